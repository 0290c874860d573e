// attention_kernel of CUTLASS example 41, kernel_backward.h, which xformers and PyTorch have too.
#include "kernels/xformers/backward_program.hpp"

#include <cmath>
#include <memory>
#include <numbers>

#include "kernels/xformers/staged_product.hpp"
#include "kernels/xformers/turn.hpp"

namespace warpscope::kernels::xformers {
namespace {

constexpr int kDeltaSlot = 0;  ///< blocks of queries
constexpr int kStepsSlot = 1;  ///< from the CTA's own block on
constexpr int kWrapSlot = 2;   ///< from the first block to the CTA's own
constexpr SliceLoops kSliceLoops{3, 4};
constexpr int kColsOfOneThread = 4;

/// Who writes dQ: the last to add to a block of queries; here the one with the highest key block of those
/// that do.
enum class Finishes { none, first_step, all_steps };

class Backward {
 public:
  Backward(CtaMachine& machine, const BackwardShape& shape, Finishes finishes)
      : m_(machine),
        shape_(shape),
        tile_(shape.tile),
        finishes_(finishes),
        block_(shape.tile.block),
        scale_(static_cast<float>(1.0 / std::sqrt(static_cast<double>(shape.problem.head_dim)))),
        grad_k_(accumulator()),
        grad_v_(accumulator()),
        owned_rows_(m_.fragment(block_, kColsOfOneThread, ElementType::fp32, Layout::linear, {})),
        turn_(m_) {}

  void run() {
    m_.part(kBackPrologue);
    const Affine own = block_index(0) * block_;
    start_scores(own, true);
    m_.loop(kDeltaSlot, [&](const Affine& block) { row_products(block * block_); });
    m_.barrier();
    m_.fill(grad_k_, 0);
    m_.fill(grad_v_, 0);
    if (finishes_ == Finishes::first_step) {
      step(own, true);
      m_.when(kStepsSlot, [&] { start_scores(own + block_, false); });
      walk(kStepsSlot, own + block_);
    } else {
      // CTAs start with queries of their own, so that they rarely wait for each other's turn at dQ.
      walk(kStepsSlot, own);
      m_.when(kWrapSlot, [&] { start_scores(0, false); });
      walk(kWrapSlot, 0);
    }
    m_.part(kBackGradients);
    m_.wait_copies(0);
    write(kGradV, own, grad_v_, shape_.layout.p);
    write(kGradK, own, grad_k_, shape_.layout.p);
  }

 private:
  void walk(int slot, const Affine& first) {
    m_.loop(slot, [&](const Affine& iteration) {
      const Affine row = first + iteration * block_;
      step(row, finishes_ == Finishes::all_steps);
      m_.unless_last([&] { start_scores(row + block_, false); });
    });
  }

  Affine segment() const { return block_index(2) * shape_.problem.heads + block_index(1); }
  Affine key() const { return block_index(0) * block_; }
  GlobalTile rows_of(int tensor, const Affine& row, const Affine& col, int cols) const {
    return {tensor, segment(), row, col, block_, cols};
  }
  GlobalTile depth_of(int tensor, const Affine& row) const {
    return {tensor, segment(), row, 0, kSliceDepth, block_};
  }
  GlobalTile row_values(int tensor, const Affine& row) const {
    return {tensor, segment(), row, 0, block_, 1};
  }

  Fragment accumulator(ElementType type = ElementType::fp32) const {
    return m_.fragment(block_, block_, type, Layout::accumulator, tile_.split());
  }
  using SliceWork = std::function<void(const Affine& slice)>;
  StagedProduct product(BackwardPart part, const SliceWork& copy, const SliceWork& multiply) const {
    return {tile_.slices(), tile_.ahead(), part, copy, multiply};
  }
  void multiply(const StagedProduct& product) const { multiply_in_loops(m_, product, kSliceLoops); }

  StagedProduct scores_product(const Affine& row, const Fragment& s, bool first) const {
    return product(
        kBackScoresSlice,
        [this, row, first](const Affine& slice) {
          const Affine col = slice * kSliceDepth;
          if (first || !tile_.keeps_k()) {
            m_.copy_async(shape_.cols_slice(shape_.layout.k, slice),
                          rows_of(kBackK, key(), col, kSliceDepth));
          }
          m_.copy_async(shape_.cols_slice(shape_.layout.q, slice), rows_of(kBackQ, row, col, kSliceDepth));
        },
        [this, s](const Affine& slice) {
          m_.mma(s, shape_.cols_slice(shape_.layout.q, slice),
                 transposed(shape_.cols_slice(shape_.layout.k, slice)));
        });
  }
  void start_scores(const Affine& row, bool first) const {
    if (!first) {
      shift_part(kBackNextShift);
      m_.part(kBackNext);
    }
    start_copies(m_, scores_product(row, Fragment{}, first));
  }

  /// Gradient += left^T right, whose rows are the inner dimension: P or dS, and a tile of queries.
  StagedProduct over_queries(const Fragment& gradient, int tensor, int offset, const Affine& row) const {
    const BackwardPart part = tensor == kBackGradO ? kBackGradVSlice : kBackGradKSlice;
    return product(
        part,
        [=, this](const Affine& slice) {
          m_.copy_async(shape_.rows_slice(offset, slice), depth_of(tensor, row + slice * kSliceDepth));
        },
        [=, this](const Affine& slice) {
          m_.mma(gradient, transposed(shape_.p_rows(slice)), shape_.rows_slice(offset, slice));
        });
  }
  StagedProduct grad_p_product(const Fragment& grad_p, const Affine& row) const {
    const int left = shape_.layout.second_grad_o;
    const int right = shape_.layout.v;
    return product(
        kBackGradPSlice,
        [=, this](const Affine& slice) {
          const Affine col = slice * kSliceDepth;
          m_.copy_async(shape_.cols_slice(left, slice), rows_of(kBackGradO, row, col, kSliceDepth));
          m_.copy_async(shape_.cols_slice(right, slice), rows_of(kBackV, key(), col, kSliceDepth));
        },
        [=, this](const Affine& slice) {
          m_.mma(grad_p, shape_.cols_slice(left, slice), transposed(shape_.cols_slice(right, slice)));
        });
  }
  StagedProduct grad_q_product(const Fragment& grad_q) const {
    const int offset = shape_.layout.second_k;
    return product(
        kBackGradQSlice,
        [=, this](const Affine& slice) {
          m_.copy_async(shape_.rows_slice(offset, slice), depth_of(kBackK, key() + slice * kSliceDepth));
        },
        [=, this](const Affine& slice) {
          m_.mma(grad_q, shape_.p_cols(slice), shape_.rows_slice(offset, slice));
        });
  }

  /// Every CTA finds those of all queries for itself: four columns of warps' worth a thread, 16 bytes at a
  /// time.
  void row_products(const Affine& row) const {
    constexpr int kElements = 8;
    const int cols = kElements * tile_.warps() * 32 / block_;
    m_.part(kBackDelta);
    RowVector products;
    for (int col = 0; col < block_; col += cols) {
      const Fragment grad_o = m_.fragment(block_, cols, shape_.type, Layout::linear, {});
      const Fragment o = m_.fragment(block_, cols, shape_.type, Layout::linear, {});
      m_.load(grad_o, rows_of(kBackGradO, row, col, cols));
      m_.load(o, rows_of(kBackO, row, col, cols));
      if (col == 0) {
        products = m_.row_vector(grad_o);
      }
      m_.row_dot(products, grad_o, o, col > 0);
    }
    m_.finish_rows(products, Reduce::sum);
    m_.store_rows(row_values(kDelta, row), products);
  }

  /// Each CTA begins elsewhere, but under a causal mask.
  void shift_part(BackwardPart part) const {
    if (!shape_.problem.causal) {
      m_.part(part);
    }
  }

  void step(const Affine& row, bool is_final) const {
    shift_part(kBackRowsShift);
    m_.part(kBackRows);
    const SharedTile delta{shape_.layout.delta, block_, 1, ElementType::fp32, 1, {}};
    m_.guarded([&] {
      const RowVector own = m_.row_vector(owned_rows_);
      m_.load_rows(own, row_values(kDelta, row));
      m_.store_shared(delta, own);
    });
    put_probabilities(row);
    const Fragment grad_p = accumulator();
    m_.part(kBackGradV);
    multiply(over_queries(grad_v_, kBackGradO, shape_.layout.grad_o, row));
    m_.barrier();
    m_.part(kBackGradP);
    m_.barrier();
    m_.fill(grad_p, 0);
    multiply(grad_p_product(grad_p, row));
    m_.barrier();
    put_grad_scores(row, grad_p, delta);
    add_to_grad_q(row, is_final);
    m_.part(kBackGradK);
    m_.barrier();
    multiply(over_queries(grad_k_, kBackQ, shape_.layout.second_q, row));
    m_.barrier();
  }

  void put_probabilities(const Affine& row) const {
    const Problem& problem = shape_.problem;
    const Fragment s = accumulator();
    m_.part(kBackScores);
    m_.fill(s, 0);
    multiply(scores_product(row, s, false));
    m_.apply(s, BinaryOp::multiply, s, scale_);
    if (problem.causal) {
      m_.mask(s, {row, key(), problem.seqlen_k, true, 0});
    }
    m_.barrier();  // everybody is done with Q
    m_.part(kBackProbabilities);
    start_copies(m_, over_queries(grad_v_, kBackGradO, shape_.layout.grad_o, row));
    start_copies(m_, grad_p_product(s, row));
    const RowVector lse = m_.row_vector(s);
    m_.load_rows(lse, row_values(kBackLse, row));
    m_.apply(s, BinaryOp::subtract, s, lse);
    if (shape_.fast_math) {
      m_.apply(s, BinaryOp::multiply, s, std::numbers::log2e_v<float>);
      m_.apply(s, UnaryOp::exp2, s);
    } else {
      m_.apply(s, UnaryOp::exp, s);
    }
    const Fragment packed = accumulator(shape_.type);
    m_.convert(packed, s);
    m_.store_shared(shape_.p(), packed);
    m_.barrier();
    m_.barrier();
  }

  /// dS takes the place of P, which comes back from shared memory for it.
  void put_grad_scores(const Affine& row, const Fragment& grad_p, const SharedTile& delta) const {
    m_.part(kBackGradS);
    start_copies(m_, grad_q_product(grad_p));
    start_copies(m_, over_queries(grad_k_, kBackQ, shape_.layout.second_q, row));
    const RowVector products = m_.row_vector(grad_p);
    m_.load_shared(products, delta);
    m_.apply(grad_p, BinaryOp::subtract, grad_p, products);
    const Fragment packed = accumulator(shape_.type);
    m_.load_shared(packed, shape_.p());
    m_.apply(grad_p, BinaryOp::multiply, grad_p, packed);
    m_.apply(grad_p, BinaryOp::multiply, grad_p, scale_);
    m_.barrier();  // everybody is done with P
    const Fragment rounded = accumulator(shape_.type);
    m_.convert(rounded, grad_p);
    m_.store_shared(shape_.p(), rounded);
    m_.barrier();
  }

  void add_to_grad_q(const Affine& row, bool is_final) const {
    GlobalTile sums = rows_of(kGradQSum, row, 0, block_);
    sums.as_held = true;
    const Fragment grad_q = accumulator();
    m_.part(kBackLock);
    // Of the workspace's words, in front of the sums that they guard.
    const GlobalTile word{kGradQSum, segment(), row, 0, 1, 1};
    turn_.take(word);
    m_.barrier();
    turn_.fence(word);
    m_.load(grad_q, sums);
    m_.part(kBackGradQ);
    m_.barrier();
    multiply(grad_q_product(grad_q));
    m_.barrier();
    m_.part(kBackTurnEnds);
    turn_.count(word);
    m_.barrier();  // whether this is the last key block is known to all threads
    if (is_final) {
      write(kGradQ, row, grad_q, shape_.layout.rows);
      return;
    }
    m_.store(sums, grad_q);
    turn_.fence(word);  // before others may take their turn
    m_.barrier();
    turn_.release(word);
  }

  /// As whole rows, by way of shared memory.
  void write(int tensor, const Affine& row, const Fragment& gradient, int offset) const {
    const SharedTile tile{offset, block_, block_, ElementType::fp32, 1, {}};
    m_.barrier();
    m_.store_shared(tile, gradient);
    m_.barrier();
    const Fragment rows = m_.fragment(block_, block_, ElementType::fp32, Layout::linear_quads, {});
    m_.load_shared(rows, tile);
    const Fragment rounded = m_.fragment(block_, block_, shape_.type, Layout::linear_quads, {});
    m_.convert(rounded, rows);
    m_.store(rows_of(tensor, row, 0, block_), rounded);
  }

  CtaMachine& m_;
  const BackwardShape& shape_;
  const BackwardTile& tile_;
  Finishes finishes_;
  int block_;
  float scale_;
  Fragment grad_k_;
  Fragment grad_v_;
  Fragment owned_rows_;  ///< names the lanes of "one thread per row"
  Turn turn_;
};

}  // namespace

void add_backward_programs(LaunchPlan& launch, const BackwardShape& problem_shape) {
  const auto shape = std::make_shared<const BackwardShape>(problem_shape);
  const auto add = [&](const char* name, Finishes finishes) {
    launch.programs.push_back(
        {name, [shape, finishes](CtaMachine& m) { Backward(m, *shape, finishes).run(); }});
  };
  const auto blocks = static_cast<std::uint32_t>(shape->blocks());
  const auto slices = static_cast<std::uint32_t>(shape->tile.slices());
  const auto ahead = static_cast<std::uint32_t>(shape->tile.ahead());
  launch.grid = {blocks, static_cast<std::uint32_t>(shape->problem.heads),
                 static_cast<std::uint32_t>(shape->problem.batch)};
  if (shape->problem.causal) {
    add("gradients", Finishes::first_step);
  } else {
    add("gradients", Finishes::none);
    add("last_gradients", Finishes::all_steps);
  }
  for (std::uint32_t x = 0; x < blocks; ++x) {
    const bool is_last = !shape->problem.causal && x + 1 == blocks;
    // The queries of its own block come first, under a causal mask in front of the loop.
    const std::uint32_t to_the_end = blocks - x - (shape->problem.causal ? 1 : 0);
    launch.classes.push_back(
        {is_last ? 1 : 0, {blocks, to_the_end, shape->problem.causal ? 0 : x, slices - ahead, ahead}, {}});
    launch.class_of_block[0].push_back(x);
  }
}

}  // namespace warpscope::kernels::xformers
