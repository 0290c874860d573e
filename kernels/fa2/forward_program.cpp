// Algorithm 1 of the FlashAttention-2 paper, in the order of csrc/flash_attn/src/flash_fwd_kernel.h.
#include "kernels/fa2/forward_program.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace warpscope::kernels::fa2 {
namespace {

class Forward {
 public:
  Forward(CtaMachine& machine, const ForwardShape& shape)
      : m_(machine),
        shape_(shape),
        tile_(shape.tile),
        type_(shape.problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16),
        scale_(1.0 / std::sqrt(static_cast<double>(shape.problem.head_dim))),
        scale_log2_(static_cast<float>(scale_ * std::numbers::log2e)),
        q_{0, tile_.rows, tile_.head_dim, type_, 1, {}},
        k_{q_.bytes_per_stage(), tile_.keys, tile_.head_dim, type_, 1, {}},
        v_{k_.byte_offset + k_.bytes_per_stage(), tile_.keys, tile_.head_dim, type_, 1, {}},
        o_(m_.fragment(tile_.rows, tile_.head_dim, ElementType::fp32, Layout::accumulator, split())),
        row_max_(m_.row_vector(o_)),
        row_sum_(m_.row_vector(o_)) {}

  void run() {
    m_.overhead(shape_.figures.of(Part::prologue));
    m_.copy_async(q_, query_tile(kQ));
    m_.copy_async(k_, key_tile(kK, class_symbol(kLastBlock)));
    m_.commit_copies();
    for (int step = 0; step < shape_.masking_steps; ++step) {
      const Affine block = class_symbol(kLastBlock) - step;
      const auto body = [&] {
        key_block(block, step == 0, true,
                  [&](const std::function<void()>& copy) { m_.when(has_more_than(step + 1), copy); });
      };
      if (step == 0) {
        body();
      } else {
        m_.when(has_more_than(step), body);
      }
    }
    m_.loop(kMainLoop, [&](const Affine& iteration) {
      key_block(class_symbol(kLastBlock) - shape_.masking_steps - iteration, false, false,
                [&](const std::function<void()>& copy) { m_.unless_last(copy); });
    });
    epilogue();
  }

  void write_nothing_seen() {
    const Fragment zeros = m_.fragment(tile_.rows, tile_.head_dim, type_, Layout::linear, split());
    m_.fill(zeros, 0);
    m_.store(query_tile(kO), zeros);
    m_.fill(row_max_, std::numeric_limits<float>::infinity());
    m_.store_rows(lse_tile(), row_max_);
  }

 private:
  using IfMore = std::function<void(const std::function<void()>&)>;

  // Each warp owns whole rows: no warp needs another's scores.
  WarpSplit split() const { return {tile_.warps, 1, 1}; }

  /// One iteration: scores, online softmax, output. `first` has no earlier output to rescale.
  void key_block(const Affine& block, bool first, bool masking, const IfMore& if_more) {
    m_.overhead(shape_.figures.of(first ? Part::first_scores : masking ? Part::masked_scores : Part::scores));
    m_.wait_copies(0);
    m_.barrier();  // K is there, and everybody is done with the previous V
    m_.copy_async(v_, key_tile(kV, block));
    m_.commit_copies();

    const Fragment s = m_.fragment(tile_.rows, tile_.keys, ElementType::fp32, Layout::accumulator, split());
    m_.fill(s, 0);
    m_.mma(s, q_, transposed(k_));
    if (masking && (shape_.problem.causal || !shape_.even)) {
      m_.mask(s, {first_query(), block * tile_.keys, shape_.problem.seqlen_k, shape_.problem.causal,
                  shape_.problem.seqlen_k - shape_.problem.seqlen_q});
    }
    m_.wait_copies(0);
    m_.barrier();  // V is there, and everybody is done with K

    const RowVector previous_max = m_.row_vector(s);
    const auto own_max = [&] {
      if (!first) {
        m_.apply(previous_max, UnaryOp::copy, row_max_);
      }
      m_.reduce_rows(row_max_, Reduce::max, s, !first);
    };
    if (shape_.figures.max_before_copy) {
      own_max();
    }
    if_more([&] {
      m_.copy_async(k_, key_tile(kK, block - 1));
      m_.commit_copies();
    });
    m_.overhead(shape_.figures.of(first ? Part::first_output : masking ? Part::masked_output : Part::output));
    if (!shape_.figures.max_before_copy) {
      own_max();
    }
    m_.finish_rows(row_max_, Reduce::max);

    if (first) {
      m_.exp2_scaled(s, scale_log2_, exponent_offset());
      m_.reduce_rows(row_sum_, Reduce::sum, s, false);
    } else {
      const RowVector correction = m_.row_vector(s);
      if (shape_.problem.causal && masking) {
        const RowVector finite_max = m_.row_vector(s);
        m_.apply(finite_max, UnaryOp::zero_if_minus_infinity, row_max_);
        m_.apply(correction, BinaryOp::subtract, previous_max, finite_max);
      } else {
        m_.apply(correction, BinaryOp::subtract, previous_max, row_max_);
      }
      m_.apply(correction, BinaryOp::multiply, correction, scale_log2_);
      m_.apply(correction, UnaryOp::exp2, correction);
      m_.apply(o_, BinaryOp::multiply, o_, correction);
      m_.exp2_scaled(s, scale_log2_, exponent_offset());
      m_.rescaled_row_sum(row_sum_, correction, s);  // each lane keeps its own part until the epilogue
    }
    const Fragment p = m_.fragment(tile_.rows, tile_.keys, type_, Layout::accumulator, split());
    m_.convert(p, s);
    if (first) {
      m_.fill(o_, 0);
    }
    m_.mma(o_, p, v_);
  }

  RowVector exponent_offset() {
    const RowVector offset = m_.row_vector(o_);
    m_.apply(offset, BinaryOp::multiply, row_max_, scale_log2_);
    m_.apply(offset, UnaryOp::zero_if_minus_infinity, offset);
    return offset;
  }

  void epilogue() {
    m_.overhead(shape_.figures.of(Part::epilogue));
    m_.finish_rows(row_sum_, Reduce::sum);
    const RowVector inverse = m_.row_vector(o_);
    m_.apply(inverse, UnaryOp::reciprocal_or_one, row_sum_);
    m_.apply(o_, BinaryOp::multiply, o_, inverse);

    const RowVector lse = m_.row_vector(o_);
    m_.apply(row_max_, UnaryOp::zero_if_minus_infinity, row_max_);
    m_.apply(row_max_, BinaryOp::multiply, row_max_, static_cast<float>(scale_));
    m_.apply(lse, UnaryOp::log_or_infinity, row_sum_);
    m_.apply(lse, BinaryOp::add, lse, row_max_);

    // O takes the place of Q, so that it can be written to global memory in whole rows.
    const Fragment packed = m_.fragment(tile_.rows, tile_.head_dim, type_, Layout::accumulator, split());
    m_.convert(packed, o_);
    m_.store_shared(q_, packed);
    m_.barrier();
    const Fragment rows = m_.fragment(tile_.rows, tile_.head_dim, type_, Layout::linear, split());
    m_.load_shared(rows, q_);
    m_.store_rows(lse_tile(), lse);
    m_.store(query_tile(kO), rows);
  }

  Affine first_query() const { return block_index(0) * tile_.rows; }

  Affine query_segment() const { return block_index(1) * shape_.problem.heads + block_index(2); }

  GlobalTile query_tile(int tensor) const {
    return {tensor, query_segment(), first_query(), 0, tile_.rows, tile_.head_dim, beyond()};
  }

  GlobalTile lse_tile() const {
    return {kLse, query_segment(), first_query(), 0, tile_.rows, 1, OutOfRange::leave};
  }

  // Heads of one group share K and V. Rows of V beyond the sequence must be zero, since 0 * NaN is NaN; rows
  // of K need not be: their scores are masked.
  GlobalTile key_tile(int tensor, const Affine& block) const {
    const std::int64_t group = shape_.problem.heads / shape_.problem.heads_kv;
    const Affine segment =
        block_index(1) * shape_.problem.heads_kv + block_index(2, static_cast<std::int32_t>(group));
    return {tensor,
            segment,
            block * tile_.keys,
            0,
            tile_.keys,
            tile_.head_dim,
            tensor == kV ? OutOfRange::zero : beyond()};
  }

  // Columns between the problem's head dimension and the tile's take part in Q K^T and must be zero.
  OutOfRange beyond() const {
    return shape_.problem.head_dim == tile_.head_dim ? OutOfRange::leave : OutOfRange::zero;
  }

  CtaMachine& m_;
  const ForwardShape& shape_;
  const ForwardTile& tile_;
  ElementType type_;
  double scale_;
  float scale_log2_;
  SharedTile q_;
  SharedTile k_;
  SharedTile v_;
  Fragment o_;
  RowVector row_max_;
  RowVector row_sum_;
};

}  // namespace

void forward_program(CtaMachine& machine, const ForwardShape& shape) {
  Forward(machine, shape).run();
}

void empty_program(CtaMachine& machine, const ForwardShape& shape) {
  Forward(machine, shape).write_nothing_seen();
}

}  // namespace warpscope::kernels::fa2
