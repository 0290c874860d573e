// Instructions of PyTorch's kernels that their source does not show: index arithmetic, parameters, branches.
#pragma once

#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels::standard {

/// Marks of the programs' parts.
enum Part : int {
  kText,                ///< all of a kernel without parts of its own
  kFirstIndex,          ///< indexed elementwise kernels: the thread's first index
  kElement,             ///< where an element is: bounds check, indices, addresses
  kPass,                ///< block softmax: one pass over the row
  kRound,               ///< a round of that pass
  kDivisions,           ///< softmax of a warp and in registers: before an element is divided
  kShuffles,            ///< of a reduction over the CTA; copy 1: a sum
  kFirstWarp,           ///< of it, where the first warp reduces what the others left; copy 1: a sum
  kExponential,         ///< softmax in registers: an element of the sum
  kStoreAddress,        ///< of an element's store; copy 1: not the first one's
  kQuotient,            ///< softmax of a warp: where the quotient is rounded
  kNextElement,         ///< of it, behind an element's store
  kDivisionSubroutine,  ///< one call, for operands that need scaling, zero numerators among them
  kSetup,               ///< matrix product: before the first copy
  kSlice,               ///< of C, on its way out
};

/// vectorized_elementwise_kernel.
BuildFigures vectorized_figures();
/// vectorized_elementwise_kernel of two tensors.
BuildFigures vectorized_product_figures();
/// The same with four elements per thread, as PyTorch of 2023 has it, of so many tensors.
BuildFigures four_element_figures(int tensors);
/// The same with four bytes per thread, all of one value.
BuildFigures byte_fill_figures();
/// softmax_warp_forward with `elements` per lane, compiled by CUDA 11.8 for sm_80 or by CUDA 13 for sm_90.
BuildFigures warp_softmax_figures(int elements, bool cuda_11);
/// The block-wide softmax, whose rounds take `elements` per thread, the row in shared memory or not.
BuildFigures block_softmax_figures(int elements, bool cached);
/// The softmax that holds a row in `elements` registers of each thread.
BuildFigures register_softmax_figures(int elements);
/// softmax_warp_backward with `elements` per lane in its one or two rows, by the same.
BuildFigures warp_softmax_backward_figures(int elements, bool two_rows, bool cuda_11);
/// The block-wide softmax backward, the row in shared memory or not; copies of kRound are its two passes.
BuildFigures block_softmax_backward_figures(bool cached);
/// CatArrayBatchedCopy of tensors whose memory is not contiguous.
BuildFigures concatenation_figures();
/// The library's matrix product whose slices of C have `outputs` elements per thread.
BuildFigures gemm_figures(int outputs);

}  // namespace warpscope::kernels::standard
