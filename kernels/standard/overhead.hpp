// Instructions of PyTorch's kernels that their source does not show: index arithmetic, parameters, branches.
#pragma once

#include <span>
#include <vector>

#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::standard {

/// vectorized_elementwise_kernel, per warp.
std::span<const CountedInstruction> vectorized_overhead();

/// softmax_warp_forward with `elements` per lane, per warp and row.
std::vector<CountedInstruction> warp_softmax_overhead(int elements);

/// One pass of the block-wide softmax over a row, per warp.
std::span<const CountedInstruction> block_softmax_pass_overhead();
/// Each round of that pass, which takes `elements` per thread.
std::vector<CountedInstruction> block_softmax_overhead(int elements);

/// The branch around that subroutine, for `elements` divisions: where paths part and where they meet.
std::vector<CountedInstruction> division_branches(int elements);

/// The subroutine of the rounded division for operands that need scaling, zero numerators among them.
std::span<const CountedInstruction> division_subroutine();

/// The library's matrix product, per warp: before the first copy, and for `outputs` elements of C per thread.
std::span<const CountedInstruction> gemm_setup_overhead();
std::vector<CountedInstruction> gemm_epilogue_overhead(int outputs);

}  // namespace warpscope::kernels::standard
