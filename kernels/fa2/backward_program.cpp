// Algorithm 2 of the FlashAttention-2 paper, in the order of csrc/flash_attn/src/flash_bwd_kernel.h.
#include "kernels/fa2/backward_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/fa2/key_walk.hpp"
#include "kernels/variants/tile_copies.hpp"

namespace warpscope::kernels::fa2 {
namespace {

constexpr int kWarps = BackwardTile::kWarps;
constexpr int kStepsSlot = 0;  // the only trip slot where a CTA has one block of keys

/// A grid of warps over a tile, `along_rows` of them along its rows.
WarpSplit split_over(int along_rows) {
  return {along_rows, kWarps / along_rows, 1};
}

class Backward {
 public:
  Backward(CtaMachine& machine, const BackwardShape& shape)
      : m_(machine),
        shape_(shape),
        tile_(shape.tile),
        type_(shape.type()),
        scale_(1.0 / std::sqrt(static_cast<double>(shape.problem.head_dim))),
        q_{0, tile_.rows, tile_.head_dim, type_, tile_.double_buffer ? 2 : 1, {}},
        grad_o_{q_.bytes_per_stage() * q_.stages, tile_.rows, tile_.head_dim, type_, 1, {}},
        k_{end_of(grad_o_), tile_.keys, tile_.head_dim, type_, 1, {}},
        v_{end_of(k_), tile_.keys, tile_.head_dim, type_, 1, {}},
        p_{tile_.v_in_registers ? v_.byte_offset : end_of(v_), tile_.rows, tile_.keys, type_, 1, {}},
        grad_s_{end_of(p_), tile_.rows, tile_.keys, type_, 1, {}},
        copies_{machine, shape.options.cp_async} {}

  void run() {
    if (shape_.splits == 0) {
      key_block(block_index(0), kStepsSlot);
      return;
    }
    walk_key_blocks(m_, shape_, [this](const Affine& block, const Trips& steps) { key_block(block, steps); });
  }

 private:
  void key_block(const Affine& block, const Trips& steps) {
    key_block_ = block;
    m_.part(kBackPrologue);
    if (shape_.splits > 0) {
      m_.barrier();  // everybody is done with the shared tiles of the block before
    }
    grad_k_ = accumulator(tile_.keys, tile_.head_dim, tile_.key_warps);
    grad_v_ = accumulator(tile_.keys, tile_.head_dim, tile_.key_warps);
    v_operand_ = load_keys_and_first_queries();
    m_.fill(grad_k_, 0);
    m_.fill(grad_v_, 0);
    m_.loop(steps, [this](const Affine& iteration) { step(last_block() - iteration); });
    m_.part(kBackEpilogue);
    m_.apply(grad_k_, BinaryOp::multiply, grad_k_, static_cast<float>(scale_));
    write_gradients();
  }

  static int end_of(const SharedTile& tile) { return tile.byte_offset + tile.bytes_per_stage(); }

  Affine last_block() const { return shape_.query_blocks() - 1; }
  bool has_shared_keys() const { return shape_.heads_per_key_head() > 1; }
  int grad_k_tensor() const { return has_shared_keys() ? kHeadGradK : kGradK; }
  int grad_v_tensor() const { return has_shared_keys() ? kHeadGradV : kGradV; }

  Fragment accumulator(int rows, int cols, int warps_along_rows, ElementType type = ElementType::fp32) {
    return m_.fragment(rows, cols, type, Layout::accumulator, split_over(warps_along_rows));
  }
  Fragment scores(ElementType type = ElementType::fp32) {
    return accumulator(tile_.rows, tile_.keys, tile_.score_warps, type);
  }

  GlobalTile keys(int tensor, const Affine& segment) const {
    return {tensor, segment, key_block_ * tile_.keys, 0, tile_.keys, tile_.head_dim, OutOfRange::zero};
  }

  SharedTile q_of(const Affine& block) const { return stage(q_, block); }

  /// Returns what stands for V in products: the tile, or its copy in registers.
  MmaOperand load_keys_and_first_queries() {
    const Affine segment = shape_.key_segment();
    lse_ = m_.row_vector(scores());
    MmaOperand v = v_;
    if (tile_.v_in_registers) {
      copies_.fetch(v_, keys(kBackV, segment));
      copies_.commit();
    }
    copies_.fetch(grad_o_, shape_.queries(kBackGradO, last_block()));
    copies_.fetch(q_of(last_block()), shape_.queries(kBackQ, last_block()));
    load_lse(last_block());
    if (tile_.v_in_registers) {
      copies_.arrive();
      m_.barrier();
      const Fragment copy = m_.fragment(tile_.keys, tile_.head_dim, type_, Layout::operand_b,
                                        {1, kWarps / tile_.score_warps, 1});
      m_.load_shared(copy, v_);
      v = copy;
    }
    copies_.fetch(k_, keys(kBackK, segment));
    if (!tile_.v_in_registers) {
      copies_.fetch(v_, keys(kBackV, segment));
    }
    copies_.commit();
    return v;
  }

  void load_lse(const Affine& block) {
    if (!shape_.even) {
      // Rows beyond the sequence then have no probability.
      m_.fill(lse_, std::numeric_limits<float>::infinity());
    }
    m_.load_rows(lse_, shape_.query_values(kBackLse, block));
  }

  /// One block of queries.
  void step(const Affine& block) {
    m_.part(kBackStep);
    copies_.arrive();
    m_.barrier();  // Q and dO are there, and everybody is done with P and dS
    const Fragment s = scores();
    m_.fill(s, 0);
    m_.mma(s, q_of(block), transposed(k_));
    if (shape_.masked()) {
      const Problem& problem = shape_.problem;
      m_.mask(s, {block * tile_.rows, key_block_ * tile_.keys, problem.seqlen_k, problem.causal,
                  problem.seqlen_k - problem.seqlen_q});
    }
    probabilities(s);
    // The source has them before the scores, machine code for sm_90 behind the exponentials.
    const RowVector row_products = m_.row_vector(s);
    m_.load_rows(row_products, shape_.query_values(kRowProducts, block));
    const Fragment grad_p = scores();
    m_.fill(grad_p, 0);
    m_.mma(grad_p, grad_o_, transposed(v_operand_));
    m_.apply(grad_p, BinaryOp::subtract, grad_p, row_products);
    m_.apply(grad_p, BinaryOp::multiply, s, grad_p);
    if (tile_.double_buffer) {
      copy_next_queries(block);
    }
    put(grad_s_, grad_p);
    m_.barrier();  // P and dS are there
    m_.mma(grad_v_, transposed(p_), grad_o_);
    m_.barrier();  // everybody is done with dO
    m_.unless_last([&] {
      copies_.fetch(grad_o_, shape_.queries(kBackGradO, block - 1));
      copies_.commit();
      load_lse(block - 1);
    });
    const Fragment grad_q = accumulator(tile_.rows, tile_.head_dim, tile_.query_warps);
    m_.fill(grad_q, 0);
    m_.mma(grad_q, grad_s_, k_);
    const Affine copy = shape_.splits > 0 ? block_index(0) : Affine(0);
    m_.reduce_add(shape_.sums(kGradQSum, copy, block, 0, tile_.head_dim), grad_q);
    m_.mma(grad_k_, transposed(grad_s_), q_of(block));
    if (!tile_.double_buffer) {
      m_.barrier();  // everybody is done with Q
      copy_next_queries(block);
    }
  }

  /// The scores become probabilities, which the log-sum-exp of the forward pass normalises.
  void probabilities(const Fragment& s) {
    const RowVector offset = m_.row_vector(s);
    m_.apply(offset, UnaryOp::zero_if_minus_infinity, lse_);
    m_.apply(offset, BinaryOp::multiply, offset, static_cast<float>(std::numbers::log2e));
    m_.exp2_scaled(s, static_cast<float>(scale_ * std::numbers::log2e), offset);
    put(p_, s);
  }

  void put(const SharedTile& target, const Fragment& source) {
    const Fragment packed = scores(type_);
    m_.convert(packed, source);
    m_.store_shared(target, packed);
  }

  void copy_next_queries(const Affine& block) {
    m_.unless_last([&] {
      copies_.fetch(q_of(block - 1), shape_.queries(kBackQ, block - 1));
      copies_.commit();
    });
  }

  /// Through shared memory, in the place of K and what lies behind it, so that whole rows are written.
  void write_gradients() {
    SharedTile next = k_;
    m_.barrier();  // everybody is done with K
    for (const Fragment& gradient : {grad_k_, grad_v_}) {
      const Fragment packed = accumulator(tile_.keys, tile_.head_dim, tile_.key_warps, type_);
      m_.convert(packed, gradient);
      m_.store_shared(next, packed);
      next.byte_offset = end_of(next);
    }
    m_.barrier();
    next = k_;
    for (const int tensor : {grad_k_tensor(), grad_v_tensor()}) {
      const Fragment rows =
          m_.fragment(tile_.keys, tile_.head_dim, type_, Layout::linear, split_over(kWarps));
      m_.load_shared(rows, next);
      m_.store(keys(tensor, shape_.query_segment()), rows);
      next.byte_offset = end_of(next);
    }
  }

  CtaMachine& m_;
  const BackwardShape& shape_;
  const BackwardTile& tile_;
  ElementType type_;
  double scale_;  ///< of the scores
  SharedTile q_;
  SharedTile grad_o_;
  SharedTile k_;
  SharedTile v_;
  SharedTile p_;
  SharedTile grad_s_;
  variants::TileCopies copies_;
  Fragment grad_k_;
  Fragment grad_v_;
  RowVector lse_;
  Affine key_block_;
  MmaOperand v_operand_ = SharedTile{};
};

}  // namespace

void backward_program(CtaMachine& machine, const BackwardShape& shape) {
  Backward(machine, shape).run();
}

void add_backward_grid(LaunchPlan& launch, const BackwardShape& shape) {
  launch.grid = {static_cast<std::uint32_t>(shape.key_blocks()),
                 static_cast<std::uint32_t>(shape.problem.batch),
                 static_cast<std::uint32_t>(shape.problem.heads)};
  std::vector<std::int64_t> steps_of_class;
  for (std::int64_t n = 0; n < shape.key_blocks(); ++n) {
    const std::int64_t count = steps_of_key_block(shape, n);
    const auto found = std::ranges::find(steps_of_class, count);
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(found - steps_of_class.begin()));
    if (found == steps_of_class.end()) {
      steps_of_class.push_back(count);
      launch.classes.push_back({0, {static_cast<std::uint32_t>(count)}, {}});
    }
  }
}

}  // namespace warpscope::kernels::fa2
