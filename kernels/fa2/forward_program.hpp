// The FlashAttention-2 forward pass as a CTA program.
#pragma once

#include "kernels/fa2/tile_table.hpp"
#include "kernels/machine/machine.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels::fa2 {

/// Tensors of the plan, in this order. A variant that keeps no log-sum-exp has the scaled row maximum in its
/// place, and the row sum behind it. Where the keys are divided, output and log-sum-exp of the parts follow.
enum Tensor : int { kQ, kK, kV, kO, kLse, kRowSum, kPartO = kRowSum, kPartLse };

/// The last tensor of a plan with sequences of their own lengths: where each begins in the packed batch.
inline constexpr int kSeqlens = kRowSum;

/// Marks of the program's parts.
enum Part : int {
  kPrologue,
  kScores,    ///< of a key block, up to the copy of the next keys
  kNextKeys,  ///< this copy before each thread's part of the new maximum
  kOutput,    ///< exponentials, and the output so far
  kEpilogue,
  kNoKeys,       ///< all of a CTA that has none
  kLengths,      ///< of this CTA's sequence
  kLengthsLeft,  ///< what of them was not read yet
  kNextPage,     ///< of K or V
};

/// Iterations over key blocks of which there is a text each.
enum Iteration : int {
  kSteady,   ///< those of the loop
  kFirst,    ///< at the mask's edge too
  kMasking,  ///< others at the mask's edge, unrolled
};

/// What all CTAs of one launch have in common.
struct ForwardShape {
  Problem problem;
  AttentionOptions options = kFa2Options;
  ForwardTile tile;
  int masking_steps = 1;    ///< leading iterations that are unrolled and, where needed, masked
  bool even = true;         ///< sequence lengths are multiples of the tile: no bounds to check
  int ctas_per_head = 0;    ///< that share the query blocks of a head in turn; 0: a CTA per query block
  std::int64_t splits = 1;  ///< CTAs that share the keys of a query block

  bool divides_keys() const { return splits > 1; }
  bool has_lengths() const { return !problem.seqlens.empty(); }
  bool has_window() const { return problem.window.is_given(); }
  /// Every score passes the mask or gets a bias, not those of the first key blocks alone.
  bool masks_all() const { return has_window() || problem.alibi; }
  std::int64_t query_blocks() const { return (problem.seqlen_q + tile.rows - 1) / tile.rows; }
  /// Queries of the last block, which may be fewer than the tile has rows.
  int last_rows() const { return static_cast<int>(problem.seqlen_q - (query_blocks() - 1) * tile.rows); }
};

/// A CTA whose block of queries lies behind the end of its sequence.
void beyond_program(CtaMachine& machine, const ForwardShape& shape);
/// A CTA with at least one key block. `rows`: how many of the tile's queries exist, where the keys are
/// divided.
void forward_program(CtaMachine& machine, const ForwardShape& shape, int rows = 0);
/// A CTA whose queries see no key at all (causal with more queries than keys, or more parts than key blocks):
/// zeros and infinite LSE.
void empty_program(CtaMachine& machine, const ForwardShape& shape, int rows = 0);

}  // namespace warpscope::kernels::fa2
