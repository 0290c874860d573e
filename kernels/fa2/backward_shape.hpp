// What all launches of one FlashAttention-2 backward pass have in common.
#pragma once

#include "kernels/fa2/backward_tile_table.hpp"
#include "kernels/machine/tiles.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels::fa2 {

/// Tensors of the plan, in this order. With fewer key heads than query heads each query head has gradients of
/// K and V of its own, which are added up at the end; without, the last two do not exist.
enum BackwardTensor : int {
  kBackQ,
  kBackK,
  kBackV,
  kBackO,
  kBackGradO,
  kBackLse,
  kRowProducts,  ///< sum over the row of dO * O, for each query
  kGradQSum,     ///< dQ in fp32, before it is scaled; `splits` copies one behind the other
  kGradQ,
  kGradK,
  kGradV,
  kHeadGradK,
  kHeadGradV,
};

struct BackwardShape {
  Problem problem;
  BackwardTile tile;
  bool even = true;  ///< sequence lengths are multiples of the tile, and so is the head dimension
  AttentionOptions options = kFa2Options;
  /// CTAs of the main kernel for each head, where each walks several key blocks and adds to sums of dQ of its
  /// own; 0: a CTA per key block, and all of a head add to the same sums (Problem::deterministic).
  std::int64_t splits = 0;

  ElementType type() const { return problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16; }
  std::int64_t query_blocks() const { return (problem.seqlen_q + tile.rows - 1) / tile.rows; }
  std::int64_t key_blocks() const { return (problem.seqlen_k + tile.keys - 1) / tile.keys; }
  std::int64_t heads_per_key_head() const { return problem.heads / problem.heads_kv; }
  std::int64_t query_segments() const { return problem.batch * problem.heads; }
  /// The scores of every step pass the mask: compilers apply it under predicates, not behind a branch.
  bool masked() const { return problem.causal || !even || !options.mask_at_edge; }

  /// What CTA (x, batch, head) calls the segment of a query head, and of a key head.
  Affine query_segment() const { return block_index(1) * problem.heads + block_index(2); }
  Affine key_segment() const {
    return block_index(1) * problem.heads_kv +
           block_index(2, static_cast<std::int32_t>(heads_per_key_head()));
  }
  /// Rows of one block of queries.
  GlobalTile queries(int tensor, const Affine& block, int first_col, int cols) const {
    return {tensor, query_segment(), block * tile.rows, first_col, tile.rows, cols, OutOfRange::zero};
  }
  GlobalTile queries(int tensor, const Affine& block) const {
    return queries(tensor, block, 0, tile.head_dim);
  }
  /// Columns of one block of the sums of dQ, in the copy number `split`.
  GlobalTile sums(int tensor, const Affine& split, const Affine& block, int first_col, int cols) const {
    GlobalTile result = queries(tensor, block, first_col, cols);
    result.segment = result.segment + split * query_segments();
    return result;
  }
  /// One value for each query of a block.
  GlobalTile query_values(int tensor, const Affine& block) const {
    return {tensor, query_segment(), block * tile.rows, 0, tile.rows, 1, OutOfRange::leave};
  }
};

}  // namespace warpscope::kernels::fa2
