// How PyTorch's elementwise_kernel<128, 4> finds the elements of a thread.
#pragma once

#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels::standard {

/// What the offset calculator works on: an index is split into the dimensions of the iteration, one magic
/// division each, and every dimension adds to the offset of every tensor.
struct IndexArithmetic {
  int dimensions = 0;  ///< left when what lies as one piece in all tensors has been merged
  int tensors = 0;     ///< operands, the result among them
  int scalars = 0;     ///< operands that are parameters of the kernel
  /// sm_90 code brings kernel parameters into uniform registers first; sm_80 code reads them in place.
  bool uniform_parameters = false;
};

/// Parts kFirstIndex and kElement. An element has the blocks of a branch per dimension: the source stops
/// after the last one.
BuildFigures indexed_figures(const IndexArithmetic& arithmetic);

}  // namespace warpscope::kernels::standard
