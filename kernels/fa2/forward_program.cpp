// Algorithm 1 of the FlashAttention-2 paper, in the order of csrc/flash_attn/src/flash_fwd_kernel.h.
#include "kernels/fa2/forward_program.hpp"

#include <limits>

#include "kernels/fa2/forward_tiles.hpp"
#include "kernels/fa2/forward_walk.hpp"
#include "kernels/fa2/online_softmax.hpp"
#include "kernels/fa2/paged_keys.hpp"
#include "kernels/fa2/sequence_lengths.hpp"
#include "kernels/variants/tile_copies.hpp"

namespace warpscope::kernels::fa2 {
namespace {

class Forward {
 public:
  Forward(CtaMachine& machine, const ForwardShape& shape, int rows)
      : m_(machine),
        shape_(shape),
        options_(shape.options),
        tile_(shape.tile),
        tiles_(machine, shape, rows),
        copies_{machine, shape.options.cp_async},
        state_(row_state()) {}

  void run() {
    walk_query_blocks(m_, shape_, [&](const QueryBlock& queries) {
      if (shape_.has_lengths()) {
        read_lengths(m_);
      }
      m_.part(kPrologue);
      read_first_page(m_, shape_);
      copies_.fetch(tiles_.q(), tiles_.queries(kQ, queries.number));
      copies_.fetch(tiles_.k(), tiles_.keys(kK, queries.last_keys));
      copies_.commit();
      walk_key_blocks(m_, shape_, queries, [&](const KeyStep& step) { key_block(queries, step); });
      epilogue(queries);
    });
  }

  void write_nothing_seen() {
    m_.part(kNoKeys);
    const Affine block =
        shape_.options.longest_first ? block_index(0) * -1 + (shape_.query_blocks() - 1) : block_index(0);
    const Fragment zeros =
        m_.fragment(tile_.rows, tile_.head_dim, tiles_.output_type(), Layout::linear, split());
    m_.fill(zeros, 0);
    m_.store(tiles_.output(block), zeros);
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    m_.fill(state_.max, shape_.divides_keys() ? -kInfinity : kInfinity);
    if (!options_.lse) {
      m_.fill(state_.sum, 0);
    }
    tiles_.store_row_statistic(state_.max, state_.sum, block);
  }

 private:
  // Each warp owns whole rows: no warp needs another's scores.
  WarpSplit split() const { return {tile_.warps, 1, 1}; }

  RowState row_state() {
    const Fragment o =
        m_.fragment(tile_.rows, tile_.head_dim, ElementType::fp32, Layout::accumulator, split());
    const RowVector max = m_.row_vector(o);
    return {o, max, m_.row_vector(o)};
  }

  /// One iteration: scores, online softmax, output.
  void key_block(const QueryBlock& queries, const KeyStep& step) {
    const bool first = step.iteration == kFirst;
    m_.part(kScores, step.iteration);
    copies_.arrive();
    m_.barrier();  // K is there, and everybody is done with the previous V
    if (!first) {
      read_next_page(m_, shape_);
    }
    copies_.fetch(tiles_.v(), tiles_.keys(kV, step.first_key));
    copies_.commit();

    const Fragment s = m_.fragment(tile_.rows, tile_.keys, ElementType::fp32, Layout::accumulator, split());
    m_.fill(s, 0);
    m_.mma(s, tiles_.q(), transposed(tiles_.k()));
    if (shape_.problem.softcap != 0) {
      m_.apply(s, BinaryOp::multiply, s, tiles_.softcap_factor());
      m_.apply(s, UnaryOp::tanh, s);
    }
    if (shape_.problem.alibi) {
      m_.add_bias(s, tiles_.bias(queries.number, step.block));
    }
    if (is_masked(shape_, step)) {
      m_.mask(s, tiles_.mask(queries.number, step.block));
    }
    copies_.arrive();
    m_.barrier();  // V is there, and everybody is done with K

    const SoftmaxStep softmax{
        .first = first,
        .rows_may_empty = (shape_.problem.causal || shape_.has_window()) && is_masked(shape_, step),
        .deferred = options_.deferred,
        .unit_sum = false};
    RowVector previous_max;
    const auto copy_next_keys = [&] {
      read_next_page(m_, shape_);
      copies_.fetch(tiles_.k(), tiles_.keys(kK, step.first_key - tile_.keys));
      copies_.commit();
    };
    m_.in_either_order(
        kNextKeys, [&] { step.if_more(copy_next_keys); },
        [&] { previous_max = own_row_max(m_, state_, s, softmax); });
    m_.part(kOutput, step.iteration);
    m_.finish_rows(state_.max, Reduce::max);
    exponentiate(m_, state_, s, previous_max, tiles_.scale_log2(), softmax,
                 [&](const RowVector& sum) { m_.finish_rows(sum, Reduce::sum); });
    const Fragment p = m_.fragment(tile_.rows, tile_.keys, tiles_.type(), Layout::accumulator, split());
    m_.convert(p, s);
    if (shape_.problem.dropout > 0) {
      m_.drop(p, tiles_.dropout(queries.number, step.block));
    }
    if (first) {
      m_.fill(state_.o, 0);
    }
    m_.mma(state_.o, p, tiles_.v());
    if (!options_.deferred) {
      normalise();
    }
  }

  void normalise() {
    const RowVector inverse = inverse_sum(m_, state_.sum, state_.o);
    if (shape_.problem.dropout > 0) {
      m_.apply(inverse, BinaryOp::multiply, inverse, static_cast<float>(1 / (1 - shape_.problem.dropout)));
    }
    m_.apply(state_.o, BinaryOp::multiply, state_.o, inverse);
  }

  void epilogue(const QueryBlock& queries) {
    m_.part(kEpilogue);
    if (options_.deferred) {
      m_.finish_rows(state_.sum, Reduce::sum);
      normalise();
    }
    const RowVector statistic = tiles_.row_statistic(state_.o, state_.max, state_.sum);
    // O takes the place of Q, so that it can be written to global memory in whole rows.
    Fragment output = state_.o;
    if (shape_.divides_keys()) {
      m_.barrier();  // in fp32 it takes the place of K too, which others may still read
    } else {
      output = m_.fragment(tile_.rows, tile_.head_dim, tiles_.type(), Layout::accumulator, split());
      m_.convert(output, state_.o);
    }
    m_.store_shared(tiles_.shared_output(), output);
    m_.barrier();
    const Fragment rows =
        m_.fragment(tile_.rows, tile_.head_dim, tiles_.output_type(), Layout::linear, split());
    m_.load_shared(rows, tiles_.shared_output());
    tiles_.store_row_statistic(statistic, state_.sum, queries.number);
    m_.store(tiles_.output(queries.number), rows);
  }

  CtaMachine& m_;
  const ForwardShape& shape_;
  const AttentionOptions& options_;
  const ForwardTile& tile_;
  ForwardTiles tiles_;
  variants::TileCopies copies_;
  RowState state_;
};

}  // namespace

void forward_program(CtaMachine& machine, const ForwardShape& shape, int rows) {
  Forward(machine, shape, rows).run();
}

void beyond_program(CtaMachine& machine, const ForwardShape& /*shape*/) {
  read_lengths(machine);
}

void empty_program(CtaMachine& machine, const ForwardShape& shape, int rows) {
  Forward(machine, shape, rows).write_nothing_seen();
}

}  // namespace warpscope::kernels::fa2
