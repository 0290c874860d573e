// _bwd_kernel of python/triton/ops/flash_attention.py (triton-lang/triton bf5acf46e), as the compiler of that
// commit makes code of it with one stage: loads go through registers to shared memory and are waited for;
// warps split rows alone, so that each reads all of every right operand; P and dS are transposed in shared
// memory; every change of layout of dQ goes through it (TritonToTritonGPUPass.cpp, OptimizeDotOperands.cpp,
// Membar.cpp).
#include "kernels/triton/backward_program.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

#include "kernels/triton/build_figures.hpp"

namespace warpscope::kernels::triton {
namespace {

enum TripSlot : int { kColumns, kSteps };

class Backward {
 public:
  Backward(CtaMachine& machine, const BackwardShape& shape)
      : m_(machine),
        shape_(shape),
        scale_(1.0 / std::sqrt(static_cast<double>(shape.problem.head_dim))),
        grad_k_(accumulator(shape.head_dim())),
        grad_v_(accumulator(shape.head_dim())) {}

  void run() {
    if (shape_.sequence_parallel) {
      column(block_index(1), Trips(kSteps));
      return;
    }
    m_.loop(kColumns, [this](const Affine& iteration) {
      Trips steps(kSteps);
      steps.per_loop[0] = shape_.problem.causal ? -1 : 0;
      column(iteration, steps);
    });
  }

 private:
  /// A block of keys.
  void column(const Affine& keys, const Trips& steps) {
    m_.part(kBeforeSteps);
    put(shape_.k(), kBackK, keys);
    put(shape_.v(), kBackV, keys);
    m_.fill(grad_v_, 0);
    m_.fill(grad_k_, 0);
    m_.loop(steps, [&](const Affine& iteration) {
      Affine step;
      const std::size_t depth = shape_.sequence_parallel ? 0 : 1;
      step.per_loop[depth] = iteration.per_loop[depth];
      block_of_queries(keys, shape_.problem.causal ? keys + step : step);
    });
    m_.part(kBehindSteps);
    write(kGradV, grad_v_, keys);
    write(kGradK, grad_k_, keys);
    m_.barrier();
  }

  void block_of_queries(const Affine& keys, const Affine& queries) {
    m_.part(kStep);
    put(shape_.q(), kBackQ, queries);
    m_.barrier();
    const Fragment p = accumulator(kBlock);
    m_.fill(p, 0);
    if (shape_.problem.causal) {
      m_.mask(p, {queries * kBlock, keys * kBlock, shape_.problem.seqlen_k, true, 0});
    }
    m_.mma(p, shape_.q(), transposed(shape_.k()));
    m_.exp2_scaled(p, static_cast<float>(scale_ * std::numbers::log2e), row_values(kBackRowMax, queries));

    put(shape_.grad_o(), kScaledGradO, queries);
    m_.store_shared(shape_.scores(), rounded(p));
    m_.barrier();
    m_.mma(grad_v_, transposed(shape_.scores()), shape_.grad_o());

    const RowVector delta = row_values(kDelta, queries);
    const Fragment grad_s = accumulator(kBlock);
    m_.fill(grad_s, 0);
    m_.mma(grad_s, shape_.grad_o(), transposed(shape_.v()));
    m_.apply(grad_s, BinaryOp::subtract, grad_s, delta);
    m_.apply(grad_s, BinaryOp::multiply, p, grad_s);
    m_.apply(grad_s, BinaryOp::multiply, grad_s, static_cast<float>(scale_));
    const Fragment packed = rounded(grad_s);
    m_.barrier();  // everybody is done with P
    m_.store_shared(shape_.scores(), packed);
    m_.barrier();
    m_.mma(grad_k_, transposed(shape_.scores()), shape_.q());
    if (shape_.sequence_parallel) {
      write_part(keys, queries);
    } else {
      add_to_sum(packed, queries);
    }
  }

  /// dQ += dS K, in memory.
  void add_to_sum(const Fragment& grad_s, const Affine& queries) {
    const GlobalTile sum = rows(kGradQParts, queries);
    const SharedTile scratch = shape_.scratch(ElementType::fp32);
    const Fragment lines = whole_rows(ElementType::fp32);
    m_.load(lines, sum);
    m_.barrier();
    m_.store_shared(scratch, lines);
    m_.barrier();
    const Fragment grad_q = accumulator(shape_.head_dim());
    m_.load_shared(grad_q, scratch);
    m_.mma(grad_q, grad_s, shape_.k());
    m_.barrier();
    m_.store_shared(scratch, grad_q);
    m_.barrier();
    m_.load_shared(lines, scratch);
    m_.store(sum, lines);
    m_.barrier();
  }

  /// dQ^T = K^T dS^T, whose rows are so few at small head dimensions that several warps do the same. Its
  /// transpose goes through a tile that is not swizzled.
  void write_part(const Affine& keys, const Affine& queries) {
    const int depth = shape_.head_dim();
    const Fragment transpose = m_.fragment(depth, kBlock, ElementType::fp32, Layout::accumulator,
                                           {std::min(kBackwardWarps, depth / 16), 1, 1});
    m_.fill(transpose, 0);
    m_.mma(transpose, transposed(shape_.k()), transposed(shape_.scores()));
    SharedTile scratch = shape_.scratch(ElementType::fp32);
    scratch.swizzled = false;
    scratch.column_major = true;
    SharedTile stored = scratch;
    stored.rows = scratch.cols;
    stored.cols = scratch.rows;
    stored.column_major = false;
    m_.barrier();
    m_.store_shared(stored, transpose);
    m_.barrier();
    const Fragment lines = whole_rows(shape_.type());
    m_.load_shared(lines, scratch);
    GlobalTile part = rows(kGradQParts, queries);
    part.segment = keys * shape_.heads() + block_index(0);
    m_.store(part, lines);
    m_.barrier();
  }

  WarpSplit split() const { return {kBackwardWarps, 1, 1}; }
  Fragment accumulator(int cols, ElementType type = ElementType::fp32) const {
    return m_.fragment(kBlock, cols, type, Layout::accumulator, split());
  }
  Fragment whole_rows(ElementType type) const {
    return m_.fragment(kBlock, shape_.head_dim(), type, Layout::linear, {});
  }
  Fragment rounded(const Fragment& source) const {
    const Fragment packed = accumulator(source.cols, shape_.type());
    m_.convert(packed, source);
    return packed;
  }

  GlobalTile rows(int tensor, const Affine& block) const {
    return {tensor, block_index(0), block * kBlock, 0, kBlock, shape_.head_dim()};
  }
  RowVector row_values(int tensor, const Affine& block) const {
    const RowVector values = m_.row_vector(accumulator(kBlock));
    m_.load_rows(values, {tensor, block_index(0), block * kBlock, 0, kBlock, 1});
    return values;
  }

  /// Through registers to shared memory.
  void put(const SharedTile& target, int tensor, const Affine& block) const {
    const Fragment lines = whole_rows(shape_.type());
    m_.load(lines, rows(tensor, block));
    m_.store_shared(target, lines);
  }

  void write(int tensor, const Fragment& gradient, const Affine& keys) const {
    const SharedTile scratch = shape_.scratch(shape_.type());
    m_.barrier();
    m_.store_shared(scratch, rounded(gradient));
    m_.barrier();
    const Fragment lines = whole_rows(shape_.type());
    m_.load_shared(lines, scratch);
    m_.store(rows(tensor, keys), lines);
  }

  CtaMachine& m_;
  const BackwardShape& shape_;
  double scale_;  ///< of the scores
  Fragment grad_k_;
  Fragment grad_v_;
};

Text text_of(const BackwardShape& shape) {
  if (shape.sequence_parallel) {
    return shape.problem.causal ? Text::parallel_masked : Text::parallel;
  }
  return shape.problem.causal ? Text::serial_masked : Text::serial;
}

}  // namespace

LaunchPlan gradients_launch(const BackwardShape& shape, int capability_major) {
  // Sums of dK and dV, scores and dP alone take 192 registers of a thread at head dimension 64.
  constexpr std::uint32_t kRegisters = 255;
  LaunchPlan launch;
  launch.name = "_bwd_kernel<" + std::to_string(shape.head_dim()) +
                (shape.sequence_parallel ? ", SEQUENCE_PARALLEL" : "") +
                (shape.problem.causal ? ", MODE 1>" : ", MODE 0>");
  launch.warps = kBackwardWarps;
  launch.registers_per_thread = kRegisters;
  launch.shared_bytes_per_cta = shape.shared_bytes();
  launch.build = build_figures(text_of(shape), shape.problem.head_dim, capability_major);
  launch.programs.push_back({"gradients", [shape](CtaMachine& m) { Backward(m, shape).run(); }});
  const auto blocks = static_cast<std::uint32_t>(shape.blocks());
  const auto heads = static_cast<std::uint32_t>(shape.heads());
  launch.grid = {heads, shape.sequence_parallel ? blocks : 1, 1};
  if (!shape.sequence_parallel || !shape.problem.causal) {
    launch.classes.push_back({0, {blocks, blocks}, {}});
    return launch;
  }
  for (std::uint32_t block = 0; block < blocks; ++block) {
    launch.class_of_block[1].push_back(block);
    launch.classes.push_back({0, {1, blocks - block}, {}});
  }
  return launch;
}

}  // namespace warpscope::kernels::triton
