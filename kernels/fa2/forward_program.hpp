// The FlashAttention-2 forward pass as a CTA program.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/fa2/tile_table.hpp"
#include "kernels/machine/machine.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels::fa2 {

/// Tensors of the plan, in this order. A variant that keeps no log-sum-exp has the scaled row maximum in its
/// place, and the row sum behind it.
enum Tensor : int { kQ, kK, kV, kO, kLse, kRowSum };

/// What all CTAs of one launch have in common.
struct ForwardShape {
  Problem problem;
  AttentionOptions options = kFa2Options;
  ForwardTile tile;
  int masking_steps = 1;  ///< leading iterations that are unrolled and, where needed, masked
  bool even = true;       ///< sequence lengths are multiples of the tile: no bounds to check
  int ctas_per_head = 0;  ///< that share the query blocks of a head in turn; 0: a CTA per query block
  BuildFigures figures;

  std::int64_t query_blocks() const { return (problem.seqlen_q + tile.rows - 1) / tile.rows; }
};

/// A CTA with at least one key block.
void forward_program(CtaMachine& machine, const ForwardShape& shape);
/// A CTA whose queries see no key at all (causal, more queries than keys): zeros and infinite LSE.
void empty_program(CtaMachine& machine, const ForwardShape& shape);

}  // namespace warpscope::kernels::fa2
