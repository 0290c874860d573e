// What checking bounds adds to the counted instructions of a FlashAttention-2 forward build.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/fa2/figure_table.hpp"

namespace warpscope::kernels::fa2 {

/// By part of the program, per warp. Of a masked iteration and of the ends of a CTA totals only.
struct UnevenFigures {
  int head_dim;
  bool causal;
  int prologue;
  int masked;  ///< below zero where the build without bounds has more moves
  FigureCounts steady;
  int epilogue;
};

/// Those of a build for a tile of that head dimension; `fills_head`: the problem's is the same.
UnevenFigures uneven_figures(Build build, int head_dim, bool causal, int capability_major, bool fills_head);

}  // namespace warpscope::kernels::fa2
