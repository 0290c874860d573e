#include "kernels/variants/sliced_k_program.hpp"

#include <algorithm>

#include "kernels/fa1/program.hpp"
#include "kernels/fa2/forward_tiles.hpp"
#include "kernels/fa2/forward_walk.hpp"
#include "kernels/fa2/online_softmax.hpp"
#include "kernels/variants/tile_copies.hpp"

namespace warpscope::kernels::variants {
namespace {

int tile_bytes(const fa2::ForwardTile& tile) {
  return static_cast<int>(tile.shared_bytes());
}

// Partial outputs take the place of K and V behind the last block.
int partial_offset(const fa2::ForwardTile& tile) {
  return 2 * tile.rows * tile.head_dim;
}

int partial_bytes(const fa2::ForwardTile& tile) {
  return 4 * tile.warps * tile.rows * tile.head_dim;
}

int max_offset(const fa2::ForwardTile& tile) {
  return std::max(tile_bytes(tile), partial_offset(tile) + partial_bytes(tile));
}

int row_parts_bytes(const fa2::ForwardTile& tile) {
  return 4 * tile.warps * tile.rows;
}

class SlicedK {
 public:
  SlicedK(CtaMachine& machine, const fa2::ForwardShape& shape)
      : m_(machine),
        shape_(shape),
        tile_(shape.tile),
        tiles_(machine, shape),
        copies_{machine, shape.options.cp_async},
        by_keys_{1, tile_.warps, 1},
        max_parts_{max_offset(tile_), tile_.warps * tile_.rows, 1, ElementType::fp32, 1, {}},
        sum_parts_(max_parts_),
        state_(row_state()) {
    sum_parts_.byte_offset += row_parts_bytes(tile_);
  }

  void run() {
    walk_query_blocks(m_, shape_, [&](const fa2::QueryBlock& queries) {
      copies_.fetch(tiles_.q(), tiles_.queries(fa2::kQ, queries.number));
      copies_.fetch(tiles_.k(), tiles_.keys(fa2::kK, queries.last_keys));
      copies_.commit();
      walk_key_blocks(m_, shape_, queries, [&](const fa2::KeyStep& step) { key_block(queries, step); });
      epilogue(queries);
    });
  }

 private:
  fa2::RowState row_state() {
    const Fragment o =
        m_.fragment(tile_.rows, tile_.head_dim, ElementType::fp32, Layout::accumulator, {1, 1, tile_.warps});
    const Fragment scores = scores_tile();
    const RowVector max = m_.row_vector(scores);
    return {o, max, m_.row_vector(scores)};
  }

  Fragment scores_tile() {
    return m_.fragment(tile_.rows, tile_.keys, ElementType::fp32, Layout::accumulator, by_keys_);
  }

  void key_block(const fa2::QueryBlock& queries, const fa2::KeyStep& step) {
    const bool masked = is_masked(shape_, step);
    const bool first = step.iteration == fa2::kFirst;
    const int copy = fa1::copy_of_step(shape_.problem.causal && masked, first);
    m_.part(fa1::kScores, copy);
    copies_.arrive();
    m_.barrier();  // K is there, and everybody is done with the previous V
    copies_.fetch(tiles_.v(), tiles_.keys(fa2::kV, step.first_key));
    copies_.commit();
    const Fragment s = scores_tile();
    m_.fill(s, 0);
    m_.mma(s, tiles_.q(), transposed(tiles_.k()));
    m_.part(fa1::kMask, copy);
    if (masked) {
      m_.mask(s, tiles_.mask(queries.number, step.block));
    }
    copies_.arrive();
    m_.barrier();  // V is there, and everybody is done with K
    step.if_more([&] {
      copies_.fetch(tiles_.k(), tiles_.keys(fa2::kK, step.first_key - tile_.keys));
      copies_.commit();
    });

    const fa2::SoftmaxStep softmax{.first = first,
                                   .rows_may_empty = shape_.problem.causal && masked,
                                   .deferred = shape_.options.deferred,
                                   .unit_sum = false};
    const RowVector previous_max = own_row_max(m_, state_, s, softmax);
    over_warps(state_.max, max_parts_, Reduce::max);
    m_.part(fa1::kSoftmax, copy);
    exponentiate(m_, state_, s, previous_max, tiles_.scale_log2(), softmax,
                 [&](const RowVector& sum) { over_warps(sum, sum_parts_, Reduce::sum); });
    const Fragment p = m_.fragment(tile_.rows, tile_.keys, tiles_.type(), Layout::accumulator, by_keys_);
    m_.convert(p, s);
    if (first) {
      m_.fill(state_.o, 0);
    }
    const Fragment v = m_.fragment(tile_.keys, tile_.head_dim, tiles_.type(), Layout::operand_b, by_keys_);
    m_.load_shared(v, tiles_.v(), true);
    m_.mma(state_.o, p, v);
    if (!shape_.options.deferred) {
      m_.apply(state_.o, BinaryOp::multiply, state_.o, fa2::inverse_sum(m_, state_.sum, s));
    }
  }

  /// Completes a reduction over the lanes of a row in all warps, by way of shared memory.
  void over_warps(const RowVector& value, const SharedTile& parts, Reduce op) {
    m_.finish_rows(value, op);
    m_.store_parts(parts, value);
    m_.barrier();
    m_.load_reduced(value, parts, tile_.warps, op);
  }

  void epilogue(const fa2::QueryBlock& queries) {
    const SharedTile parts{
        partial_offset(tile_), tile_.warps * tile_.rows, tile_.head_dim, ElementType::fp32, 1, {}};
    m_.part(fa1::kOutput, fa1::copy_of_step(false, false));
    if (shape_.options.deferred) {
      m_.finish_rows(state_.sum, Reduce::sum);
    }
    m_.barrier();  // everybody is done with V
    m_.store_parts(sum_parts_, state_.sum);
    m_.store_parts(parts, state_.o);
    m_.barrier();
    // Other threads own the rows here than in the softmax.
    const Fragment out = m_.fragment(tile_.rows, tile_.head_dim, ElementType::fp32, Layout::linear_quads, {});
    const RowVector max = m_.row_vector(out);
    const RowVector sum = m_.row_vector(out);
    m_.load_reduced(max, max_parts_, tile_.warps, Reduce::max);
    m_.load_reduced(sum, sum_parts_, tile_.warps, shape_.options.deferred ? Reduce::sum : Reduce::max);
    m_.load_reduced(out, parts, tile_.warps, Reduce::sum);
    if (shape_.options.deferred) {
      m_.apply(out, BinaryOp::multiply, out, fa2::inverse_sum(m_, sum, out));
    }
    const RowVector statistic = tiles_.row_statistic(out, max, sum);
    const Fragment rounded = m_.fragment(tile_.rows, tile_.head_dim, tiles_.type(), Layout::linear_quads, {});
    m_.convert(rounded, out);
    tiles_.store_row_statistic(statistic, sum, queries.number);
    m_.store(tiles_.queries(fa2::kO, queries.number), rounded);
  }

  CtaMachine& m_;
  const fa2::ForwardShape& shape_;
  const fa2::ForwardTile& tile_;
  fa2::ForwardTiles tiles_;
  TileCopies copies_;
  WarpSplit by_keys_;
  SharedTile max_parts_;
  SharedTile sum_parts_;
  fa2::RowState state_;
};

}  // namespace

void sliced_k_program(CtaMachine& machine, const fa2::ForwardShape& shape) {
  SlicedK(machine, shape).run();
}

std::uint32_t sliced_k_shared_bytes(const fa2::ForwardTile& tile) {
  return static_cast<std::uint32_t>(max_offset(tile) + 2 * row_parts_bytes(tile));
}

}  // namespace warpscope::kernels::variants
