// Instructions of FlashAttention-2's split-KV kernels that their source does not show.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/fa2/tile_table.hpp"
#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels::fa2 {

/// Figures for one instantiation of flash_fwd_splitkv_kernel. `divided`: the keys are in several parts.
/// `even`: no bounds to check. `fills_head`: the head has as many columns as the tile.
BuildFigures split_figures(Build build, const ForwardTile& tile, bool causal, bool divided, bool even,
                           bool fills_head);

}  // namespace warpscope::kernels::fa2
