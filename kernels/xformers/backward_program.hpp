// The backward pass of memory-efficient attention as a CTA program: gradients of one block of keys.
#pragma once

#include "kernels/machine/machine.hpp"
#include "kernels/xformers/backward_shape.hpp"

namespace warpscope::kernels::xformers {

/// Marks of the program's parts.
enum BackwardPart : int {
  kBackPrologue,
  kBackDelta,          ///< row products of one block of queries
  kBackRowsShift,      ///< where queries begin, without mask: a division
  kBackRows,           ///< from the start of a step to its first barrier
  kBackScores,         ///< up to the mask
  kBackProbabilities,  ///< copies for the next two products, and P
  kBackGradV,
  kBackGradP,
  kBackGradS,  ///< copies for the last two products, and dS
  kBackLock,   ///< the turn at dQ in memory
  kBackGradQ,
  kBackTurnEnds,
  kBackGradK,
  kBackNextShift,  ///< as kBackRowsShift
  kBackNext,       ///< copies for the next step
  // One slice of a product.
  kBackScoresSlice,
  kBackGradVSlice,
  kBackGradPSlice,
  kBackGradQSlice,
  kBackGradKSlice,
  kBackGradients,  ///< dK and dV go to memory
};

/// Fills in programs, grid and classes of the launch: a CTA for each block of keys.
void add_backward_programs(LaunchPlan& launch, const BackwardShape& shape);

}  // namespace warpscope::kernels::xformers
