// Instructions of the two FlashAttention-2 builds that their source does not show.
#pragma once

#include "kernels/fa2/forward_program.hpp"
#include "kernels/fa2/tile_table.hpp"
#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels::fa2 {

enum class Build : std::uint8_t {
  upstream,  ///< the repository's: --use_fast_math
  torch,     ///< inside PyTorch 2.11: UNFUSE_FMA, exponentials without fast math
};

/// Figures for one instantiation on a compute capability of that major version. `even`: no bounds to check.
/// `fills_head`: nor columns of the tile beyond the head.
/// `as_built`: the tile is the one that the build was counted with; others need fewer registers and get the
/// figures without their spills.
BuildFigures build_figures(Build build, const ForwardTile& tile, bool causal, bool even, bool fills_head,
                           int capability_major, bool as_built);

/// What replaces the figures of `build_figures` for the loop of a kernel with dropout.
void set_dropout_figures(BuildFigures& figures, int head_dim);

}  // namespace warpscope::kernels::fa2
