// How PyTorch reduces over the threads of a CTA since March 2024 (BlockReduce of block_reduce.cuh).
#pragma once

#include <vector>

#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::standard {

/// Roles of a launch whose programs reduce over the CTA: the first warp and the others.
std::vector<int> reduction_roles(int warps);

/// Where the warps' parts lie in shared memory from `byte_offset` on.
SharedTile reduction_parts(int byte_offset, int warps);
/// Of shared memory that a reduction takes, its result included.
int reduction_bytes(const SharedTile& parts);

/// Completes a reduction over all threads: shuffles in each warp, then the first warp over the `parts` that
/// the warps leave, then all read its result. Marks kShuffles and kFirstWarp, copy 1 for sums.
void reduce_over_cta(CtaMachine& machine, const RowVector& value, const SharedTile& parts, Reduce op);

}  // namespace warpscope::kernels::standard
