#include "kernels/variants/key_outer_program.hpp"

#include <cmath>
#include <numbers>

#include "kernels/fa1/program.hpp"
#include "kernels/fa1/walk.hpp"
#include "kernels/fa2/online_softmax.hpp"
#include "kernels/variants/tile_copies.hpp"

namespace warpscope::kernels::variants {
namespace {

class KeyOuter {
 public:
  KeyOuter(CtaMachine& machine, const Problem& problem, const fa1::Config& config)
      : m_(machine),
        problem_(problem),
        config_(config),
        type_(problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16),
        scale_(1.0F / std::sqrt(static_cast<float>(problem.head_dim))),
        skips_(problem.causal && config.options.skip_masked),
        k_{config.kv_offset, config.block_keys, config.head_dim, type_, 1, {}},
        v_(k_),
        copies_{machine, config.options.cp_async} {
    v_.byte_offset += k_.bytes_per_stage();
  }

  void run(const fa1::Schedule& schedule) {
    const fa1::Visitor visitor{[&](const fa1::KeyBlockVisit& visit) { load_key_block(visit); },
                               [&](const fa1::Step& step) { query_step(step); }};
    if (config_.chunk_steps > 0) {
      walk_chunk(m_, config_, skips_, visitor);
    } else {
      walk_interleaved(m_, config_, schedule, skips_, visitor);
    }
  }

 private:
  WarpSplit by_rows() const { return {fa1::kWarps, 1, 1}; }

  Fragment tile(int cols, ElementType type) {
    return m_.fragment(config_.step_rows, cols, type, Layout::accumulator, by_rows());
  }

  void load_key_block(const fa1::KeyBlockVisit& visit) {
    m_.part(fa1::kKeyBlock);
    m_.barrier();  // everybody is done with the keys before
    copies_.fetch(queries(0), rows_of(fa1::kQ, visit.first_row, config_.step_rows));
    copies_.fetch(k_, rows_of(fa1::kK, visit.first_key, config_.block_keys));
    copies_.fetch(v_, rows_of(fa1::kV, visit.first_key, config_.block_keys));
    copies_.commit();
  }

  void query_step(const fa1::Step& step) {
    const bool masked = is_masked(step);
    mark(fa1::kScores, step);
    copies_.arrive();
    m_.barrier();  // the queries are there
    const fa2::RowState state = earlier_state(step);
    const Fragment s = tile(config_.block_keys, ElementType::fp32);
    m_.fill(s, 0);
    m_.mma(s, queries(step.buffer), transposed(k_));
    m_.guarded([&] {
      copies_.fetch(queries(step.buffer + 1), rows_of(fa1::kQ, step.next_row, config_.step_rows));
      copies_.commit();
    });
    mark(fa1::kMask, step);
    if (masked) {
      m_.mask(s, {step.row, step.first_key, problem_.seqlen_k, problem_.causal, 0});
    }

    const fa2::SoftmaxStep softmax{.first = step.first,
                                   .rows_may_empty = problem_.causal && masked,
                                   .deferred = config_.options.deferred,
                                   .unit_sum = !config_.keeps_sum()};
    const auto complete = [&](const RowVector& sum) { m_.finish_rows(sum, Reduce::sum); };
    const RowVector previous_max = own_row_max(m_, state, s, softmax);
    m_.finish_rows(state.max, Reduce::max);
    mark(fa1::kSoftmax, step);
    exponentiate(m_, state, s, previous_max, scale_ * std::numbers::log2e_v<float>, softmax, complete);
    const Fragment p = tile(config_.block_keys, type_);
    m_.convert(p, s);
    if (step.first) {
      m_.fill(state.o, 0);
    }
    m_.mma(state.o, p, v_);
    mark(fa1::kOutput, step);
    if (softmax.deferred) {
      complete(state.sum);
    }
    if (!softmax.deferred || step.is_final) {
      m_.apply(state.o, BinaryOp::multiply, state.o, fa2::inverse_sum(m_, state.sum, state.o));
    }
    store_row_state(step, state);
    store_output(step, state.o);
  }

  void mark(fa1::Part part, const fa1::Step& step) { m_.part(part, copy_of_step(config_, problem_, step)); }

  bool is_masked(const fa1::Step& step) const { return fa1::is_masked(config_, problem_, step); }

  /// Output, maximum and sum of the step's rows after the key blocks before.
  fa2::RowState earlier_state(const fa1::Step& step) {
    const Fragment o = tile(config_.head_dim, ElementType::fp32);
    const RowVector max = m_.row_vector(o);
    const fa2::RowState state{o, max, m_.row_vector(o)};
    if (step.first) {
      return state;
    }
    m_.guarded([&] {
      m_.load(o, rows_of(fa1::kScratch, step.row, config_.step_rows));
      m_.load_rows(max, row_values(fa1::kLse, step.row));
      m_.apply(max, BinaryOp::multiply, max, 1.0F / scale_);
      if (config_.keeps_sum()) {
        m_.load_rows(state.sum, row_values(row_sum_tensor(config_), step.row));
        // Deferred, each lane of a row holds a part of the sum: here equal ones.
        if (config_.options.deferred) {
          m_.apply(state.sum, BinaryOp::multiply, state.sum, 1.0F / kLanesPerRow);
        }
      }
    });
    return state;
  }

  void store_row_state(const fa1::Step& step, const fa2::RowState& state) {
    const bool logarithm = config_.options.lse && (step.is_final || !config_.keeps_sum());
    m_.apply(state.max, BinaryOp::multiply, state.max, scale_);
    m_.guarded([&] {
      if (logarithm) {
        const RowVector lse = m_.row_vector(state.o);
        m_.apply(lse, UnaryOp::log_or_minus_infinity, state.sum);
        m_.apply(lse, BinaryOp::add, lse, state.max);
        m_.store_rows(row_values(fa1::kLse, step.row), lse);
      } else {
        m_.store_rows(row_values(fa1::kLse, step.row), state.max);
        m_.store_rows(row_values(row_sum_tensor(config_), step.row), state.sum);
      }
    });
  }

  void store_output(const fa1::Step& step, const Fragment& o) {
    if (!step.is_final) {
      m_.store(rows_of(fa1::kScratch, step.row, config_.step_rows), o);
      return;
    }
    // O takes the place of Q, so that it can be written to global memory in whole rows.
    const Fragment packed = tile(config_.head_dim, type_);
    m_.convert(packed, o);
    m_.barrier();
    m_.store_shared(queries(step.buffer), packed);
    m_.barrier();
    const Fragment rows = m_.fragment(config_.step_rows, config_.head_dim, type_, Layout::linear, {});
    m_.load_shared(rows, queries(step.buffer));
    m_.store(rows_of(fa1::kO, step.row, config_.step_rows), rows);
  }

  Affine segment() const { return block_index(0) * problem_.heads + block_index(1); }

  GlobalTile rows_of(int tensor, const Affine& row, int rows) const {
    return {
        .tensor = tensor, .segment = segment(), .row = row, .col = 0, .rows = rows, .cols = config_.head_dim};
  }

  GlobalTile row_values(int tensor, const Affine& row) const {
    return {
        .tensor = tensor, .segment = segment(), .row = row, .col = 0, .rows = config_.step_rows, .cols = 1};
  }

  SharedTile queries(const Affine& buffer) const {
    return stage({config_.q_offset, config_.step_rows, config_.head_dim, type_, 2, {}}, buffer);
  }

  static constexpr float kLanesPerRow = 4;

  CtaMachine& m_;
  const Problem& problem_;
  const fa1::Config& config_;
  ElementType type_;
  float scale_;
  bool skips_;
  SharedTile k_;
  SharedTile v_;
  TileCopies copies_;
};

}  // namespace

void KeyOuterProgram::operator()(CtaMachine& machine) const {
  KeyOuter(machine, problem_, config_).run(schedule_);
}

}  // namespace warpscope::kernels::variants
