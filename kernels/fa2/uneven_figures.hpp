// What checking bounds adds to the counted instructions of a FlashAttention-2 forward build.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/fa2/figure_table.hpp"

namespace warpscope::kernels::fa2 {

/// By part of the program, per warp; below zero where the build without bounds has more. Of a masked
/// iteration and of the ends of a CTA only loads and stores of local memory were counted apart: all else is
/// moves in the iteration and integer arithmetic at the ends.
struct UnevenFigures {
  int head_dim;
  bool causal;
  FigureCounts prologue;
  FigureCounts masked;
  FigureCounts steady;
  FigureCounts epilogue;
};

/// Those of a build for a tile of that head dimension; `fills_head`: the problem's is the same.
UnevenFigures uneven_figures(Build build, int head_dim, bool causal, int capability_major, bool fills_head);

}  // namespace warpscope::kernels::fa2
