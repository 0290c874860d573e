// Counted instructions of FlashAttention-2 forward builds, as data, and what all such counts are made of.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/fa2/build_figures.hpp"

namespace warpscope::kernels::fa2 {

/// Per warp and execution of a part, beyond what the trace machine expands from the source.
struct FigureCounts {
  int integer = 0;   ///< integer and logic on the ALU pipe
  int move = 0;      ///< MOV
  int multiply = 0;  ///< IMAD and IMAD.MOV
  int uniform = 0;
  int special = 0;  ///< S2R, LDC, BSSY, BSYNC, NOP; all stand as NOP but the LDC at the beginning
  int branch = 0;
  int convert = 0;  ///< integer division by way of floating point
  int load = 0;     ///< LDL
  int load_64 = 0;
  int store = 0;  ///< STL
  int store_64 = 0;
};

/// The same for BuildFigures, without kinds that do not occur.
std::vector<CountedInstruction> counted_instructions(const FigureCounts& counts);

struct FigureRow {
  Build build;
  int head_dim;
  int capability_major;
  bool causal;
  Part part;
  Iteration iteration;
  FigureCounts counts;
};

std::span<const FigureRow> figure_rows();

/// Words of a thread, per build; 0: none was compiled.
struct LocalMemory {
  int words = 0;         ///< of the stack frame
  int exponentials = 0;  ///< of a step that wait there to be packed
};
LocalMemory local_memory(Build build, int head_dim, int capability_major, bool causal, bool even);

/// BuildFigures::spread_over_banks of a build.
bool spreads_over_banks(Build build, int head_dim, bool even);

}  // namespace warpscope::kernels::fa2
