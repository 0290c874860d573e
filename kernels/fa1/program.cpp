#include "kernels/fa1/program.hpp"

#include <cmath>
#include <numbers>

namespace warpscope::kernels::fa1 {

namespace {

constexpr float kLog2E = std::numbers::log2e_v<float>;
constexpr WarpSplit kByKeys{1, kWarps, 1};
constexpr WarpSplit kPartial{1, 1, kWarps};  // sliced-K: every warp sums P V over its own keys

}  // namespace

Program::Program(const Problem& problem, const Config& config, const Schedule& schedule)
    : config_(config),
      schedule_(schedule),
      segment_(block_index(0) * problem.heads + block_index(1)),
      type_(problem.dtype == DataType::fp16 ? ElementType::fp16 : ElementType::bf16),
      problem_(problem),
      scale_(static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem.head_dim)))) {}

GlobalTile Program::rows_of(Tensor tensor, const Affine& row, int rows) const {
  return {
      .tensor = tensor, .segment = segment_, .row = row, .col = 0, .rows = rows, .cols = config_.head_dim};
}

void Program::guarded(CtaMachine& m, const Step& step, const std::function<void()>& access) const {
  m.guarded(
      [&] {
        mark(m, kAddress, step);
        access();
      },
      Condition::of_iteration);
}

GlobalTile Program::row_values(int tensor, const Affine& row) const {
  return {.tensor = tensor, .segment = segment_, .row = row, .col = 0, .rows = config_.step_rows, .cols = 1};
}

SharedTile Program::queries(const Affine& buffer) const {
  return stage({config_.q_offset, config_.step_rows, config_.head_dim, type_, 2, {}}, buffer);
}

SharedTile Program::row_scratch(int offset, int parts) const {
  return {offset, parts * config_.step_rows, 1, ElementType::fp32, 1, {}};
}

void Program::operator()(CtaMachine& m) const {
  Resident resident;
  const bool skips = problem_.causal && config_.options.skip_masked;
  const Visitor visitor{[&](const KeyBlockVisit& visit) { resident = load_key_block(m, visit); },
                        [&](const Step& step) { query_step(m, resident, step); }};
  if (config_.chunk_steps > 0) {
    walk_chunk(m, config_, skips, visitor);
  } else {
    walk_interleaved(m, config_, schedule_, skips, visitor);
  }
}

Program::Resident Program::load_key_block(CtaMachine& m, const KeyBlockVisit& visit) const {
  const int keys = config_.block_keys;
  const int d = config_.head_dim;
  const SharedTile shared_kv{config_.kv_offset, keys, d, type_, 1, {}};
  Resident resident;
  resident.k = m.fragment(keys, d, type_, Layout::operand_b, kByKeys);
  resident.v = m.fragment(keys, d, type_, Layout::operand_b, kByKeys);
  const Fragment scores =
      m.fragment(config_.step_rows, keys, ElementType::fp32, Layout::accumulator, kByKeys);
  resident.stored = m.row_vector(scores);
  if (config_.keeps_sum()) {
    resident.stored_sum = m.row_vector(scores);
  }
  const Fragment k = m.fragment(keys, d, type_, Layout::linear, {});
  const Fragment q = m.fragment(config_.step_rows, d, type_, Layout::linear, {});
  const Fragment v = m.fragment(keys, d, type_, Layout::linear, {});
  const bool async = config_.options.cp_async;

  m.part(kKeyBlock);
  if (!async) {
    m.load(k, rows_of(kK, visit.first_key, keys));
    m.load(q, rows_of(kQ, visit.first_row, config_.step_rows));
    m.load(v, rows_of(kV, visit.first_key, keys));
  }
  if (!visit.first) {
    m.barrier();
    load_row_state(m, resident, visit.first_row);
  }
  // V, then K pass through the same shared memory into the registers of the tensor-core operands.
  const auto to_shared = [&](const SharedTile& target, const Fragment& rows, const GlobalTile& source) {
    if (async) {
      m.copy_async(target, source);
    } else {
      m.store_shared(target, rows);
    }
  };
  const auto arrive = [&] {
    if (async) {
      m.commit_copies();
      m.wait_copies(0);
    }
    m.barrier();
  };
  to_shared(queries(0), q, rows_of(kQ, visit.first_row, config_.step_rows));
  to_shared(shared_kv, v, rows_of(kV, visit.first_key, keys));
  arrive();
  m.load_shared(resident.v, shared_kv, true);
  m.barrier();
  to_shared(shared_kv, k, rows_of(kK, visit.first_key, keys));
  arrive();
  m.load_shared(resident.k, shared_kv);
  // The partial outputs will overwrite K. The source puts this barrier into the first step.
  m.barrier();
  return resident;
}

void Program::load_row_state(CtaMachine& m, const Resident& resident, const Affine& row) const {
  m.load_rows(resident.stored, row_values(kLse, row));
  if (config_.keeps_sum()) {
    m.load_rows(resident.stored_sum, row_values(row_sum_tensor(config_), row));
  }
}

void Program::query_step(CtaMachine& m, const Resident& resident, const Step& step) const {
  const int keys = config_.block_keys;
  const int d = config_.head_dim;
  const Fragment scores =
      m.fragment(config_.step_rows, keys, ElementType::fp32, Layout::accumulator, kByKeys);
  const Fragment p = m.fragment(config_.step_rows, keys, type_, Layout::accumulator, kByKeys);
  const Fragment partial = m.fragment(config_.step_rows, d, ElementType::fp32, Layout::accumulator, kPartial);
  const Fragment previous = m.fragment(config_.step_rows, d, ElementType::fp32, Layout::linear_quads, {});
  const Fragment next_q = m.fragment(config_.step_rows, d, type_, Layout::linear, {});
  const RowVector max = m.row_vector(scores);
  const RowVector sum = m.row_vector(scores);

  mark(m, kScores, step);
  m.fill(scores, 0);
  m.mma(scores, queries(step.buffer), transposed(resident.k));
  const auto load_previous = [&] {
    if (!step.first) {
      guarded(m, step, [&] { m.load(previous, rows_of(kScratch, step.row, config_.step_rows)); });
    }
  };
  const BlockKind block = kind_of_block(step.first, step.is_final);
  m.in_either_order(order_of(kEarlierOutput, block), load_previous, [&] {
    m.in_either_order(
        order_of(kNextQueries, block), [&] { load_next_queries(m, step, next_q); },
        [&] { own_maximum(m, resident, step, scores, max); });
  });
  online_softmax(m, scores, max, sum);
  m.convert(p, scores);
  m.fill(partial, 0);
  m.mma(partial, p, resident.v);
  // The source has both stores before the products; the machine code of sm_80 and sm_90 has them behind.
  m.store_parts(row_scratch(config_.sum_offset, kWarps), sum);
  if (!config_.options.cp_async) {
    m.store_shared(queries(step.buffer + 1), next_q);
  }
  merge_output(m, step, partial, previous);
}

void Program::load_next_queries(CtaMachine& m, const Step& step, const Fragment& next_q) const {
  const GlobalTile source = rows_of(kQ, step.next_row, config_.step_rows);
  guarded(m, step, [&] {
    if (config_.options.cp_async) {
      m.copy_async(queries(step.buffer + 1), source);
      m.commit_copies();
    } else {
      m.load(next_q, source);
    }
  });
}

void Program::own_maximum(CtaMachine& m, const Resident& resident, const Step& step, const Fragment& scores,
                          const RowVector& max) const {
  mark(m, kMask, step);
  if (is_masked(config_, problem_, step)) {
    m.mask(scores, {step.row, step.first_key, problem_.seqlen_k, problem_.causal, 0});
  }
  if (!step.first) {
    // The stored logarithm of the sum, where that is kept, stands in for the maximum so far.
    m.store_shared(row_scratch(config_.row_offset, 1), resident.stored);
    if (config_.keeps_sum()) {
      m.store_shared(row_scratch(config_.row_offset + 4 * config_.step_rows, 1), resident.stored_sum);
    }
    m.apply(max, BinaryOp::multiply, resident.stored, 1.0F / scale_);
    guarded(m, step, [&] { load_row_state(m, resident, step.next_row); });
  }
  mark(m, kSoftmax, step);
  m.reduce_rows(max, Reduce::max, scores, !step.first);
}

void Program::online_softmax(CtaMachine& m, const Fragment& scores, const RowVector& max,
                             const RowVector& sum) const {
  m.finish_rows(max, Reduce::max);
  m.store_parts(row_scratch(config_.max_offset, kWarps), max);
  m.barrier();
  m.load_reduced(max, row_scratch(config_.max_offset, kWarps), kWarps, Reduce::max);

  m.apply(max, BinaryOp::multiply, max, scale_ * kLog2E);
  m.exp2_scaled(scores, scale_ * kLog2E, max);
  m.reduce_rows(sum, Reduce::sum, scores, false);
  m.finish_rows(sum, Reduce::sum);
}

void Program::merge_output(CtaMachine& m, const Step& step, const Fragment& partial,
                           const Fragment& previous) const {
  const Fragment out =
      m.fragment(config_.step_rows, config_.head_dim, ElementType::fp32, Layout::linear_quads, {});
  const RowVector max = m.row_vector(out);
  const RowVector sum = m.row_vector(out);
  const RowVector lse = m.row_vector(out);
  const RowVector correction = m.row_vector(out);
  const bool deferred = config_.options.deferred;
  const SharedTile parts{
      config_.partial_offset, kWarps * config_.step_rows, config_.head_dim, ElementType::fp32, 1, {}};

  // Other threads own the rows here than in the softmax, so the maximum is derived once more.
  m.load_reduced(max, row_scratch(config_.max_offset, kWarps), kWarps, Reduce::max);
  m.apply(max, BinaryOp::multiply, max, scale_);
  RowVector earlier_sum = correction;  // an output that is normalised has the sum one
  if (!step.first) {
    m.load_shared(correction, row_scratch(config_.row_offset, 1));
    if (config_.keeps_sum()) {
      earlier_sum = m.row_vector(out);
      m.load_shared(earlier_sum, row_scratch(config_.row_offset + 4 * config_.step_rows, 1));
    }
  }
  m.store_parts(parts, partial);
  if (config_.options.cp_async) {
    m.wait_copies(0);
  }
  m.barrier();
  m.load_reduced(sum, row_scratch(config_.sum_offset, kWarps), kWarps, Reduce::sum);
  RowVector factor = correction;  // of the output so far
  if (!step.first) {
    m.apply(correction, BinaryOp::subtract, correction, max);
    m.apply(correction, BinaryOp::multiply, correction, kLog2E);
    m.apply(correction, UnaryOp::exp2, correction);
    if (config_.keeps_sum()) {
      m.apply(earlier_sum, BinaryOp::multiply, earlier_sum, correction);
      factor = deferred ? correction : earlier_sum;
    }
    m.apply(sum, BinaryOp::add, sum, earlier_sum);
  }
  store_row_state(m, step, max, sum, lse);

  mark(m, kOutput, step);
  m.load_reduced(out, parts, kWarps, Reduce::sum);
  if (!step.first) {
    m.multiply_add(out, previous, factor, out);
  }
  // Normalised in every key block, not once at the end.
  if (!deferred || step.is_final) {
    m.apply(sum, UnaryOp::reciprocal_or_one, sum);
    m.apply(out, BinaryOp::multiply, out, sum);
  }
  store_output(m, step, out);
}

void Program::store_row_state(CtaMachine& m, const Step& step, const RowVector& max, const RowVector& sum,
                              const RowVector& lse) const {
  const bool logarithm = config_.options.lse && (step.is_final || !config_.keeps_sum());
  if (logarithm) {
    m.apply(lse, UnaryOp::log_or_minus_infinity, sum);
    m.apply(lse, BinaryOp::add, lse, max);
  }
  m.part(kRowState);
  guarded(m, step, [&] {  // one thread per row stores
    m.store_rows(row_values(kLse, step.row), logarithm ? lse : max);
    if (!logarithm) {
      m.store_rows(row_values(row_sum_tensor(config_), step.row), sum);
    }
  });
}

void Program::store_output(CtaMachine& m, const Step& step, const Fragment& out) const {
  mark(m, kStore, step);
  if (!step.is_final) {
    guarded(m, step, [&] { m.store(rows_of(kScratch, step.row, config_.step_rows), out); });
    return;
  }
  const Fragment rounded = m.fragment(config_.step_rows, config_.head_dim, type_, Layout::linear_quads, {});
  m.convert(rounded, out);
  guarded(m, step, [&] { m.store(rows_of(kO, step.row, config_.step_rows), rounded); });
}

}  // namespace warpscope::kernels::fa1
