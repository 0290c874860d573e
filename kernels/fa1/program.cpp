#include "kernels/fa1/program.hpp"

#include <cmath>
#include <numbers>

#include "kernels/fa1/counted.hpp"

namespace warpscope::kernels::fa1 {

namespace {

constexpr float kLog2E = std::numbers::log2e_v<float>;
constexpr WarpSplit kByKeys{1, kWarps, 1};
// Rows of O that a thread holds, four columns of each.
int rows_per_thread(const Config& config) {
  return kStepRows * config.head_dim / 4 / (32 * kWarps);
}

constexpr WarpSplit kPartial{1, 1, kWarps};  // sliced-K: every warp sums P V over its own keys

}  // namespace

Program::Program(const Problem& problem, const Config& config, const Schedule& schedule)
    : config_(config),
      schedule_(schedule),
      segment_(block_index(0) * problem.heads + block_index(1)),
      type_(problem.dtype == DataType::fp16 ? ElementType::fp16 : ElementType::bf16),
      seqlen_k_(problem.seqlen_k),
      causal_(problem.causal),
      scale_(static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem.head_dim)))) {}

GlobalTile Program::rows_of(Tensor tensor, const Affine& row, int rows) const {
  return {
      .tensor = tensor, .segment = segment_, .row = row, .col = 0, .rows = rows, .cols = config_.head_dim};
}

GlobalTile Program::lse_rows(const Affine& row) const {
  return {.tensor = kLse, .segment = segment_, .row = row, .col = 0, .rows = kStepRows, .cols = 1};
}

SharedTile Program::queries(const Affine& buffer) const {
  return stage({config_.q_offset, kStepRows, config_.head_dim, type_, 2, {}}, buffer);
}

SharedTile Program::row_scratch(int offset, int parts) const {
  return {offset, parts * kStepRows, 1, ElementType::fp32, 1, {}};
}

void Program::operator()(CtaMachine& m) const {
  const auto if_it_has_rows = [&](const KeyBlock& block) {
    m.when(block.exists_slot, [&] { key_block(m, block, 0); });
  };
  if_it_has_rows(schedule_.first);
  if (!schedule_.period.empty()) {
    m.loop(schedule_.periods_slot, [&](const Affine& period) {
      for (const KeyBlock& block : schedule_.period) {
        key_block(m, block, period);
      }
    });
  }
  for (const KeyBlock& block : schedule_.rest) {
    if_it_has_rows(block);
  }
}

void Program::key_block(CtaMachine& m, const KeyBlock& block, const Affine& period) const {
  const auto blocks_per_period = static_cast<std::int64_t>(schedule_.period.size());
  const Affine first_key = (period * blocks_per_period + block.number) * config_.block_keys;
  const Affine shift = period * (schedule_.steps_per_period * kStepRows);
  const Affine diagonal_row = class_symbol(block.diagonal_symbol) * kStepRows + shift;
  const Affine below_row = class_symbol(block.below_symbol) * kStepRows + shift;
  const bool has_diagonal = causal_ || block.last;
  const Resident resident = load_key_block(m, block, first_key, has_diagonal ? diagonal_row : below_row);

  const auto run_steps = [&](const Trips& trips, const Affine& first_row, const Affine& first_buffer,
                             bool is_final) {
    m.loop(trips, [&](const Affine& iteration) {
      const std::int64_t stride = std::int64_t{config_.num_splits} * kStepRows;
      const Affine row = first_row + iteration * stride;
      query_step(m, resident,
                 {row, row + stride, first_buffer + iteration, first_key, block.first, is_final});
    });
  };
  // The source decides step by step whether rows are final; the final ones come first, so two loops of one
  // text execute the same instructions.
  if (has_diagonal) {
    run_steps(block.diagonal_slot, diagonal_row, 0, true);
  }
  if (!block.last) {
    Trips below(block.below_slot);
    if (block.repeats) {
      below.per_loop[0] = schedule_.trips_per_period;
    }
    run_steps(below, below_row, has_diagonal ? class_symbol(block.parity_symbol) : Affine(0), false);
  }
}

Program::Resident Program::load_key_block(CtaMachine& m, const KeyBlock& block, const Affine& first_key,
                                          const Affine& first_row) const {
  const int keys = config_.block_keys;
  const int d = config_.head_dim;
  const SharedTile shared_kv{config_.kv_offset, keys, d, type_, 1, {}};
  const Resident resident{
      m.fragment(keys, d, type_, Layout::operand_b, kByKeys),
      m.fragment(keys, d, type_, Layout::operand_b, kByKeys),
      m.row_vector(m.fragment(kStepRows, keys, ElementType::fp32, Layout::accumulator, kByKeys))};
  const Fragment k = m.fragment(keys, d, type_, Layout::linear, {});
  const Fragment q = m.fragment(kStepRows, d, type_, Layout::linear, {});
  const Fragment v = m.fragment(keys, d, type_, Layout::linear, {});

  m.overhead(key_block_overhead(config_));
  m.load(k, rows_of(kK, first_key, keys));
  m.load(q, rows_of(kQ, first_row, kStepRows));
  m.load(v, rows_of(kV, first_key, keys));
  if (!block.first) {
    m.barrier();
    m.load_rows(resident.stored_lse, lse_rows(first_row));
  }
  // V, then K pass through the same shared memory into the registers of the tensor-core operands.
  m.store_shared(queries(0), q);
  m.store_shared(shared_kv, v);
  m.barrier();
  m.load_shared(resident.v, shared_kv, true);
  m.barrier();
  m.store_shared(shared_kv, k);
  m.barrier();
  m.load_shared(resident.k, shared_kv);
  // The partial outputs will overwrite K. The source puts this barrier into the first step.
  m.barrier();
  return resident;
}

void Program::query_step(CtaMachine& m, const Resident& resident, const Step& step) const {
  const int keys = config_.block_keys;
  const int d = config_.head_dim;
  const Fragment scores = m.fragment(kStepRows, keys, ElementType::fp32, Layout::accumulator, kByKeys);
  const Fragment p = m.fragment(kStepRows, keys, type_, Layout::accumulator, kByKeys);
  const Fragment partial = m.fragment(kStepRows, d, ElementType::fp32, Layout::accumulator, kPartial);
  const Fragment previous = m.fragment(kStepRows, d, ElementType::fp32, Layout::linear_quads, {});
  const Fragment next_q = m.fragment(kStepRows, d, type_, Layout::linear, {});

  m.overhead(step_overhead(config_, causal_, step.first, StepPart::scores));
  m.fill(scores, 0);
  m.mma(scores, queries(step.buffer), transposed(resident.k));

  // Conditional loads: the compiler moves nothing across them.
  if (!step.first) {
    m.end_block();
    m.load(previous, rows_of(kScratch, step.row, kStepRows));
    m.join_block();
  }
  const auto load_next_queries = [&] {
    m.end_block();
    m.load(next_q, rows_of(kQ, step.next_row, kStepRows));
    m.join_block();
  };
  // Counted in the machine code for sm_80 and sm_90: where the compiler put the branch around this load.
  const bool after_maximum = d == 128 || causal_;
  if (!after_maximum) {
    load_next_queries();
  }
  m.overhead(step_overhead(config_, causal_, step.first, StepPart::mask));
  // No fast path for blocks that the mask does not touch.
  m.mask(scores, {step.row, step.first_key, seqlen_k_, causal_, 0});
  online_softmax(m, resident, step, scores, [&] {
    if (after_maximum) {
      load_next_queries();
    }
  });
  m.convert(p, scores);
  m.store_shared(queries(step.buffer + 1), next_q);
  m.fill(partial, 0);
  m.mma(partial, p, resident.v);
  merge_output(m, step, partial, previous);
}

void Program::online_softmax(CtaMachine& m, const Resident& resident, const Step& step,
                             const Fragment& scores, const std::function<void()>& after_maximum) const {
  const RowVector max = m.row_vector(scores);
  const RowVector sum = m.row_vector(scores);
  if (!step.first) {
    // The stored logarithm of the sum stands in for the maximum so far.
    m.store_shared(row_scratch(config_.lse_offset, 1), resident.stored_lse);
    m.apply(max, BinaryOp::multiply, resident.stored_lse, 1.0F / scale_);
    m.end_block();
    m.load_rows(resident.stored_lse, lse_rows(step.next_row));
    m.join_block();
  }
  m.overhead(step_overhead(config_, causal_, step.first, StepPart::softmax));
  m.reduce_rows(max, Reduce::max, scores, !step.first);
  after_maximum();
  m.finish_rows(max, Reduce::max);
  m.store_parts(row_scratch(config_.max_offset, kWarps), max);
  m.barrier();
  m.load_reduced(max, row_scratch(config_.max_offset, kWarps), kWarps, Reduce::max);

  m.apply(max, BinaryOp::multiply, max, scale_ * kLog2E);
  m.exp2_scaled(scores, scale_ * kLog2E, max);
  m.reduce_rows(sum, Reduce::sum, scores, false);
  m.finish_rows(sum, Reduce::sum);
  m.store_parts(row_scratch(config_.sum_offset, kWarps), sum);
}

void Program::merge_output(CtaMachine& m, const Step& step, const Fragment& partial,
                           const Fragment& previous) const {
  const Fragment out = m.fragment(kStepRows, config_.head_dim, ElementType::fp32, Layout::linear_quads, {});
  const RowVector max = m.row_vector(out);
  const RowVector sum = m.row_vector(out);
  const RowVector lse = m.row_vector(out);
  const RowVector correction = m.row_vector(out);
  const SharedTile parts{
      config_.partial_offset, kWarps * kStepRows, config_.head_dim, ElementType::fp32, 1, {}};

  // Other threads own the rows here than in the softmax, so the maximum is derived once more.
  m.load_reduced(max, row_scratch(config_.max_offset, kWarps), kWarps, Reduce::max);
  m.apply(max, BinaryOp::multiply, max, scale_);
  if (!step.first) {
    m.load_shared(correction, row_scratch(config_.lse_offset, 1));
  }
  m.store_parts(parts, partial);
  m.barrier();
  m.load_reduced(sum, row_scratch(config_.sum_offset, kWarps), kWarps, Reduce::sum);
  if (!step.first) {
    m.apply(correction, BinaryOp::subtract, correction, max);
    m.apply(correction, BinaryOp::multiply, correction, kLog2E);
    m.apply(correction, UnaryOp::exp2, correction);
    m.apply(sum, BinaryOp::add, sum, correction);
  }
  m.apply(lse, UnaryOp::log_or_minus_infinity, sum);
  m.apply(lse, BinaryOp::add, lse, max);
  for (int row = 0; row < rows_per_thread(config_); ++row) {
    m.end_block();  // one thread per row stores; a branch for each row that a thread holds
  }
  m.store_rows(lse_rows(step.row), lse);
  m.join_block();

  m.overhead(step_overhead(config_, causal_, step.first, StepPart::output));
  m.load_reduced(out, parts, kWarps, Reduce::sum);
  if (!step.first) {
    m.multiply_add(out, previous, correction, out);
  }
  // Normalised in every key block, not once at the end.
  m.apply(sum, UnaryOp::reciprocal_or_one, sum);
  m.apply(out, BinaryOp::multiply, out, sum);
  store_output(m, step, out);
}

void Program::store_output(CtaMachine& m, const Step& step, const Fragment& out) const {
  for (int branch = 0; branch < extra_branches(config_, causal_, step.first); ++branch) {
    m.end_block();
  }
  if (!step.is_final) {
    m.end_block();
    m.store(rows_of(kScratch, step.row, kStepRows), out);
    m.join_block();
    return;
  }
  const Fragment rounded = m.fragment(kStepRows, config_.head_dim, type_, Layout::linear_quads, {});
  m.convert(rounded, out);
  m.end_block();
  m.store(rows_of(kO, step.row, kStepRows), rounded);
  m.join_block();
}

}  // namespace warpscope::kernels::fa1
