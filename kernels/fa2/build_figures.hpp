// Instructions of the two FlashAttention-2 builds that their source does not show.
#pragma once

#include <vector>

#include "kernels/fa2/tile_table.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

enum class Build : std::uint8_t {
  upstream,  ///< the repository's: --use_fast_math
  torch,     ///< inside PyTorch 2.11: UNFUSE_FMA, exponentials without fast math
};

/// Counted instructions per warp by part of the program.
struct BuildFigures {
  MathBuild math;
  std::vector<CountedInstruction> prologue;
  std::vector<CountedInstruction> step;         ///< each iteration over a key block
  std::vector<CountedInstruction> masked_step;  ///< in addition, where scores are masked
  std::vector<CountedInstruction> epilogue;
};

BuildFigures build_figures(Build build, const ForwardTile& tile, bool causal);

}  // namespace warpscope::kernels::fa2
