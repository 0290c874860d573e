// Instructions of the kernels' machine code that their text does not show, as data.
#pragma once

#include <span>
#include <vector>

#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels::triton {

/// What there is machine code of.
enum class Text { forward, forward_masked, serial, serial_masked, parallel, parallel_masked };

enum class Stretch {
  step,  ///< an iteration of the loop with the products
  rest,  ///< the rest of a CTA, or of a block of keys where a CTA has all of them
};

/// Per warp and execution.
struct FigureCounts {
  int integer = 0;  ///< addresses, compares and logic on the ALU pipe
  int move = 0;
  int multiply = 0;  ///< IMAD
  int scale = 0;     ///< FMUL of divisions
  int uniform = 0;
  int special = 0;    ///< S2R, LDC, NOP; all stand as NOP but the LDC at the beginning
  int dead_load = 0;  ///< LDS in front of asynchronous copies that is predicated off
  int load = 0;       ///< LDL
  int load_64 = 0;
  int store = 0;  ///< STL
  int store_64 = 0;
};

struct FigureRow {
  Text text;
  int head_dim;
  int capability_major;
  Stretch stretch;
  FigureCounts counts;
};

std::span<const FigureRow> figure_rows();
/// 4-byte words of local memory that a thread of the code has for values without a register; 0 for code that
/// was not counted.
int spilled_words(Text text, int head_dim, int capability_major);
/// The counts for BuildFigures.
std::vector<CountedInstruction> counted_instructions(const FigureCounts& counts);

}  // namespace warpscope::kernels::triton
