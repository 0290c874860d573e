// Instructions of the build that the source does not show: address arithmetic, moves, predicates.
#pragma once

#include "kernels/machine/build_figures.hpp"
#include "kernels/xformers/tile_table.hpp"

namespace warpscope::kernels::xformers {

/// Marks of the program's parts.
enum Part : int {
  kPrologue,
  kScores,          ///< from the start of a key block to its first barrier
  kQueryAddresses,  ///< of Q and K, up to the copies
  kScoreSlice,      ///< one slice of Q K^T
  kMaximum,         ///< addresses of V, up to the questions whether there are bias and mask
  kBranches,        ///< these questions, and the maximum
  kMask,
  kRescaling,  ///< by one thread per row
  kExponentials,
  kProbabilities,  ///< sums by one thread per row, and P on its way to shared memory
  kOutput,         ///< addresses of P V
  kOutputSlice,    ///< one slice of it
  kAccumulate,     ///< output so far from memory and back
  kNextValues,     ///< addresses of further columns of V
  kNextBlock,      ///< end of the loop over key blocks
  kEpilogue,
  kLogSumExp,
};

/// Figures for one instantiation on a compute capability of that major version, 8 or 9.
BuildFigures build_figures(const ForwardTile& tile, int capability_major);

}  // namespace warpscope::kernels::xformers
