// The main kernel of the FlashAttention-2 backward pass as a CTA program: gradients of one block of keys.
#pragma once

#include "kernels/fa2/backward_shape.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

/// Marks of the program's parts.
enum BackwardPart : int {
  kBackPrologue,
  kBackStep,  ///< a block of queries
  kBackEpilogue,
};

/// Registers: dK and dV. Queries pass by from the last block to the first; each adds to dQ in global memory.
void backward_program(CtaMachine& machine, const BackwardShape& shape);
/// Fills in the grid and the classes of the CTAs. Each has a step at least: the last query sees all keys.
void add_backward_grid(LaunchPlan& launch, const BackwardShape& shape);

}  // namespace warpscope::kernels::fa2
