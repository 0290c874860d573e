// Counted instructions of FlashAttention-2 backward builds, as data.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/fa2/figure_table.hpp"

namespace warpscope::kernels::fa2 {

/// What the main kernel is compiled for: its instantiations differ in what they check.
enum class BackwardCase : std::uint8_t {
  full,    ///< even lengths, no mask
  causal,  ///< even lengths
  uneven,  ///< bounds to check, with or without a causal mask
};

/// Parts of which something was counted.
enum class BackwardCount : std::uint8_t {
  step,          ///< of the main kernel, for each block of queries
  cta,           ///< of the main kernel, before and behind its steps
  row_products,  ///< the kernel before it, per warp
  convert,       ///< the kernel behind it, per warp
};

struct BackwardFigureRow {
  Build build;
  int head_dim;
  int capability_major;
  BackwardCase compiled_for;
  BackwardCount part;
  FigureCounts counts;
};

std::span<const BackwardFigureRow> backward_figure_rows();

}  // namespace warpscope::kernels::fa2
