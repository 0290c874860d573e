// Instructions of the build by part of the program: the data behind build_figures.
#pragma once

#include <span>
#include <vector>

#include "kernels/machine/build_figures.hpp"
#include "kernels/xformers/build_figures.hpp"

namespace warpscope::kernels::xformers {

/// Per warp, beyond what the program's text expands to.
struct FigureRow {
  int capability_major;  ///< that the build is for
  int head_dim;          ///< of the instantiation, as ForwardTile has it
  Part part;
  // Of these two each needs the result of the one before.
  int chained_alu;
  int chained_fma;
  int alu;                   ///< other integer, logic, compares, selects
  int fma;                   ///< other moves and address multiply-adds; FFMA where the text has no product
  int uniform;               ///< uniform datapath
  int special;               ///< in no pipe that is counted: special registers, convergence
  int branch;                ///< not taken
  int dead_load;             ///< LDS that are predicated off
  int dead_matrix_load = 0;  ///< LDSM behind the last slice
  int shuffle = 0;
  int spill_load = 0;
  int spill_store = 0;
};

std::span<const FigureRow> figure_rows();

/// The same for CountedBlock, without kinds that do not occur.
std::vector<CountedInstruction> chained_instructions(const FigureRow& row);
std::vector<CountedInstruction> spread_instructions(const FigureRow& row);

}  // namespace warpscope::kernels::xformers
