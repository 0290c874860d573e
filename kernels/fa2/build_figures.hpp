// Instructions of the two FlashAttention-2 builds that their source does not show.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "kernels/fa2/tile_table.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

enum class Build : std::uint8_t {
  upstream,  ///< the repository's: --use_fast_math
  torch,     ///< inside PyTorch 2.11: UNFUSE_FMA, exponentials without fast math
};

/// Parts of the program that the compiler makes separate code for. An iteration over a key block is split
/// where the next K tile is copied under a condition: scores before, output after.
enum class Part : std::uint8_t {
  prologue,
  first_scores,
  first_output,
  masked_scores,  ///< masking iterations but the first
  masked_output,
  scores,
  output,
  epilogue,
};
inline constexpr int kParts = 8;

/// What a build adds to the instructions that follow from the source: address arithmetic, moves, spills.
struct BuildFigures {
  MathBuild math;
  /// The compiler moves each thread's own maximum up, before the conditional copy of K.
  bool max_before_copy = false;
  std::array<std::vector<CountedInstruction>, kParts> counted;

  const std::vector<CountedInstruction>& of(Part part) const {
    return counted[static_cast<std::size_t>(part)];
  }
};

/// Figures for one instantiation on a compute capability of that major version. `even`: no bounds to check.
/// `as_built`: the tile is the one that the build was counted with; others need fewer registers and get the
/// figures without their spills.
BuildFigures build_figures(Build build, const ForwardTile& tile, bool causal, bool even, int capability_major,
                           bool as_built);

}  // namespace warpscope::kernels::fa2
