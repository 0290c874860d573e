// Counted instructions of PyTorch's flash_fwd_splitkv_kernel, as data.
#pragma once

#include <span>

#include "kernels/fa2/figure_table.hpp"

namespace warpscope::kernels::fa2 {

/// Of an instantiation with divided keys. `even`: no bounds to check; above head dimension 128 none is.
struct TorchSplitRow {
  int head_dim;
  bool causal;
  bool even;
  Part part;
  Iteration iteration;
  FigureCounts counts;
};

std::span<const TorchSplitRow> torch_split_rows();

}  // namespace warpscope::kernels::fa2
