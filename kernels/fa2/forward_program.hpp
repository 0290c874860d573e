// The FlashAttention-2 forward pass as a CTA program.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/fa2/tile_table.hpp"
#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::fa2 {

/// Tensors of the plan, in this order.
enum Tensor : int { kQ, kK, kV, kO, kLse };

/// What all CTAs of one launch have in common.
struct ForwardShape {
  Problem problem;
  ForwardTile tile;
  int masking_steps = 1;  ///< leading iterations that are unrolled and, where needed, masked
  bool even = true;       ///< sequence lengths are multiples of the tile: no bounds to check
  BuildFigures figures;
};

/// Trip slots of a CTA with n key blocks: slot 0 the iterations after the masking steps, slot j > 0 whether n
/// > j.
inline constexpr int kMainLoop = 0;
constexpr int has_more_than(int blocks) {
  return blocks;
}
/// The symbol of a CTA class: its last key block, where the walk backwards starts.
inline constexpr int kLastBlock = 0;

/// A CTA with at least one key block.
void forward_program(CtaMachine& machine, const ForwardShape& shape);
/// A CTA whose queries see no key at all (causal, more queries than keys): zeros and infinite LSE.
void empty_program(CtaMachine& machine, const ForwardShape& shape);

}  // namespace warpscope::kernels::fa2
