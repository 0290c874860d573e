#include "kernels/fa2/online_softmax.hpp"

namespace warpscope::kernels::fa2 {
namespace {

RowVector exponent_offset(CtaMachine& m, const RowState& state, const Fragment& scores, float scale_log2) {
  const RowVector offset = m.row_vector(scores);
  m.apply(offset, BinaryOp::multiply, state.max, scale_log2);
  m.apply(offset, UnaryOp::zero_if_minus_infinity, offset);
  return offset;
}

/// exp2 of what the maximum rose by: what earlier exponentials must be multiplied with.
RowVector correction_of(CtaMachine& m, const RowState& state, const Fragment& scores,
                        const RowVector& previous_max, float scale_log2, bool rows_may_empty) {
  const RowVector correction = m.row_vector(scores);
  if (rows_may_empty) {
    const RowVector finite_max = m.row_vector(scores);
    m.apply(finite_max, UnaryOp::zero_if_minus_infinity, state.max);
    m.apply(correction, BinaryOp::subtract, previous_max, finite_max);
  } else {
    m.apply(correction, BinaryOp::subtract, previous_max, state.max);
  }
  m.apply(correction, BinaryOp::multiply, correction, scale_log2);
  m.apply(correction, UnaryOp::exp2, correction);
  return correction;
}

}  // namespace

RowVector own_row_max(CtaMachine& m, const RowState& state, const Fragment& scores, const SoftmaxStep& step) {
  const RowVector previous_max = m.row_vector(scores);
  if (!step.first) {
    m.apply(previous_max, UnaryOp::copy, state.max);
  }
  m.reduce_rows(state.max, Reduce::max, scores, !step.first);
  return previous_max;
}

void exponentiate(CtaMachine& m, const RowState& state, const Fragment& scores, const RowVector& previous_max,
                  float scale_log2, const SoftmaxStep& step, const CompleteSum& complete) {
  if (step.first) {
    m.exp2_scaled(scores, scale_log2, exponent_offset(m, state, scores, scale_log2));
    m.reduce_rows(state.sum, Reduce::sum, scores, false);
    if (!step.deferred) {
      complete(state.sum);
    }
    return;
  }
  const RowVector correction = correction_of(m, state, scores, previous_max, scale_log2, step.rows_may_empty);
  if (step.deferred) {
    m.apply(state.o, BinaryOp::multiply, state.o, correction);
    m.exp2_scaled(scores, scale_log2, exponent_offset(m, state, scores, scale_log2));
    // Each lane keeps its own part until the epilogue.
    m.rescaled_row_sum(state.sum, correction, scores);
    return;
  }
  if (!step.unit_sum) {
    m.apply(correction, BinaryOp::multiply, correction, state.sum);
  }
  m.apply(state.o, BinaryOp::multiply, state.o, correction);
  m.exp2_scaled(scores, scale_log2, exponent_offset(m, state, scores, scale_log2));
  m.reduce_rows(state.sum, Reduce::sum, scores, false);
  complete(state.sum);
  m.apply(state.sum, BinaryOp::add, state.sum, correction);
}

RowVector inverse_sum(CtaMachine& m, const RowVector& sum, const Fragment& like) {
  const RowVector inverse = m.row_vector(like);
  m.apply(inverse, UnaryOp::reciprocal_or_one, sum);
  return inverse;
}

}  // namespace warpscope::kernels::fa2
