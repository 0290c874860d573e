// _fwd_kernel of python/triton/ops/flash_attention.py (triton-lang/triton bf5acf46e), as the compiler of that
// commit makes code of it: warps split rows alone, since the two products follow one another
// (AccelerateMatmul.cpp); Q comes from shared memory in every iteration, since its conversion to an operand
// is sunk into the loop (ReorderInstructions.cpp); P becomes an operand in registers; copies of the next keys
// and values stand behind the products and are waited for at once, as two stages have it (Pipeline.cpp).
#include "kernels/triton/forward_program.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/triton/build_figures.hpp"

namespace warpscope::kernels::triton {
namespace {

class Forward {
 public:
  Forward(CtaMachine& machine, const ForwardShape& shape)
      : m_(machine),
        shape_(shape),
        output_(accumulator(shape.head_dim())),
        sum_(machine.row_vector(output_)),
        max_(machine.row_vector(output_)) {}

  void run() {
    m_.part(kBeforeSteps);
    start_rows();
    put_scaled_queries();
    const auto copy_first = [this] { copy_keys_and_values(0); };
    if (shape_.mode == Mode::below_diagonal) {
      m_.when(kKeyBlocks, copy_first);
    } else {
      copy_first();
    }
    m_.wait_copies(0);
    m_.barrier();
    m_.loop(kKeyBlocks, [this](const Affine& iteration) { key_block(iteration); });
    m_.part(kBehindSteps);
    m_.wait_copies(0);
    m_.barrier();
    store_rows(kRowSum, sum_);
    m_.barrier();
    store_rows(kRowMax, max_);
    m_.barrier();
    store_output();
  }

 private:
  WarpSplit split() const { return {shape_.warps(), 1, 1}; }
  Fragment accumulator(int cols, ElementType type = ElementType::fp32) const {
    return m_.fragment(kBlock, cols, type, Layout::accumulator, split());
  }
  /// As loads and stores have it: 16 bytes of a row to a thread.
  Fragment whole_rows(ElementType type) const {
    return m_.fragment(kBlock, shape_.head_dim(), type, Layout::linear, {});
  }
  Fragment one_row_per_thread() const {
    constexpr int kPiece = 4;  // fp32 in 16 bytes
    return m_.fragment(kBlock, kPiece, ElementType::fp32, Layout::linear, {});
  }

  GlobalTile queries(int tensor, int cols) const {
    return {tensor, block_index(1), block_index(0) * kBlock, 0, kBlock, cols};
  }
  /// Block number `iteration` of those that the CTA visits.
  Affine first_key(const Affine& iteration) const {
    return (shape_.mode == Mode::diagonal ? block_index(0) : iteration) * kBlock;
  }

  void start_rows() const {
    m_.fill(output_, 0);
    if (shape_.mode != Mode::diagonal) {
      m_.fill(sum_, 0);
      m_.fill(max_, -std::numeric_limits<float>::infinity());
      return;
    }
    load_rows(sum_, kRowSum);
    m_.barrier();
    load_rows(max_, kRowMax);
    m_.barrier();
    const Fragment rows = whole_rows(shape_.type());
    m_.load(rows, queries(kO, shape_.head_dim()));
    const Fragment wide = whole_rows(ElementType::fp32);
    m_.convert(wide, rows);
    m_.store_shared(shape_.scratch(ElementType::fp32), wide);
    m_.barrier();
    m_.load_shared(output_, shape_.scratch(ElementType::fp32));
    m_.barrier();
  }

  void load_rows(const RowVector& target, int tensor) const {
    const RowVector loaded = m_.row_vector(one_row_per_thread());
    m_.load_rows(loaded, queries(tensor, 1));
    m_.store_shared(shape_.row_scratch(), loaded);
    m_.barrier();
    m_.load_shared(target, shape_.row_scratch());
  }

  void store_rows(int tensor, const RowVector& source) const {
    m_.store_shared(shape_.row_scratch(), source);
    m_.barrier();
    const RowVector rows = m_.row_vector(one_row_per_thread());
    m_.load_shared(rows, shape_.row_scratch());
    m_.store_rows(queries(tensor, 1), rows);
  }

  void store_output() const {
    const Fragment packed = accumulator(shape_.head_dim(), shape_.type());
    m_.convert(packed, output_);
    m_.store_shared(shape_.scratch(shape_.type()), packed);
    m_.barrier();
    const Fragment rows = whole_rows(shape_.type());
    m_.load_shared(rows, shape_.scratch(shape_.type()));
    m_.store(queries(kO, shape_.head_dim()), rows);
  }

  /// Q times the scale and log2(e), rounded: scores are exponents of 2 then.
  void put_scaled_queries() const {
    const Fragment q = whole_rows(shape_.type());
    m_.load(q, queries(kQ, shape_.head_dim()));
    const double scale = std::numbers::log2e / std::sqrt(static_cast<double>(shape_.problem.head_dim));
    m_.apply(q, BinaryOp::multiply, q, static_cast<float>(scale));
    m_.store_shared(shape_.q(), q);
  }

  void copy_keys_and_values(const Affine& iteration) const {
    const auto copy = [&](const SharedTile& ring, int tensor) {
      m_.copy_async(stage(ring, iteration),
                    {tensor, block_index(1), first_key(iteration), 0, kBlock, shape_.head_dim()});
      m_.commit_copies();
    };
    copy(shape_.k(), kK);
    copy(shape_.v(), kV);
  }

  void key_block(const Affine& iteration) const {
    m_.part(kStep);
    const Fragment s = accumulator(kBlock);
    m_.fill(s, 0);
    m_.mma(s, shape_.q(), transposed(stage(shape_.k(), iteration)));
    if (shape_.masked()) {
      m_.mask(s, {block_index(0) * kBlock, first_key(iteration), shape_.problem.seqlen_k, true, 0});
    }
    normalise(s);
    const Fragment p = accumulator(kBlock, shape_.type());
    m_.convert(p, s);
    m_.mma(output_, p, stage(shape_.v(), iteration));
    m_.unless_last([&] { copy_keys_and_values(iteration + 1); });
    m_.wait_copies(0);
    m_.barrier();
  }

  /// Scores become probabilities of the keys so far, and so does what earlier ones have added to the output:
  /// both are divided by the row sum in every iteration.
  void normalise(const Fragment& s) const {
    const RowVector block_max = m_.row_vector(s);
    m_.reduce_rows(block_max, Reduce::max, s, false);
    m_.finish_rows(block_max, Reduce::max);
    m_.apply(s, BinaryOp::subtract, s, block_max);
    m_.apply(s, UnaryOp::exp2, s);
    const RowVector block_sum = m_.row_vector(s);
    m_.reduce_rows(block_sum, Reduce::sum, s, false);
    m_.finish_rows(block_sum, Reduce::sum);

    const RowVector new_max = m_.row_vector(s);
    m_.apply(new_max, BinaryOp::max, max_, block_max);
    const RowVector old_scale = power_of_difference(max_, new_max);
    const RowVector block_scale = power_of_difference(block_max, new_max);
    m_.apply(max_, UnaryOp::copy, new_max);
    m_.apply(old_scale, BinaryOp::multiply, old_scale, sum_);
    m_.apply(block_sum, BinaryOp::multiply, block_sum, block_scale);
    m_.apply(sum_, BinaryOp::add, old_scale, block_sum);
    const RowVector inverse = m_.row_vector(s);
    m_.apply(inverse, UnaryOp::reciprocal, sum_);
    m_.apply(block_scale, BinaryOp::multiply, block_scale, inverse);
    m_.apply(old_scale, BinaryOp::multiply, old_scale, inverse);
    m_.apply(s, BinaryOp::multiply, s, block_scale);
    m_.apply(output_, BinaryOp::multiply, output_, old_scale);
  }

  RowVector power_of_difference(const RowVector& left, const RowVector& right) const {
    const RowVector result = m_.row_vector(output_);
    m_.apply(result, BinaryOp::subtract, left, right);
    m_.apply(result, UnaryOp::exp2, result);
    return result;
  }

  CtaMachine& m_;
  const ForwardShape& shape_;
  Fragment output_;
  RowVector sum_;
  RowVector max_;
};

}  // namespace

void forward_program(CtaMachine& machine, const ForwardShape& shape) {
  Forward(machine, shape).run();
}

}  // namespace warpscope::kernels::triton
