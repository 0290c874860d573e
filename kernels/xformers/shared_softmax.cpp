#include "kernels/xformers/shared_softmax.hpp"

#include <limits>
#include <numbers>

#include "kernels/xformers/build_figures.hpp"

namespace warpscope::kernels::xformers {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kLog2E = std::numbers::log2e_v<float>;
constexpr int kColsOfOneThread = 4;  // fp32 in a piece of 16 bytes: a row of them is one thread's

}  // namespace

SharedSoftmax::SharedSoftmax(CtaMachine& machine, const ForwardShape& shape)
    : m_(machine),
      shape_(shape),
      owned_rows_(
          machine.fragment(shape.tile.queries, kColsOfOneThread, ElementType::fp32, Layout::linear, {})) {}

void SharedSoftmax::start() const {
  const RowVector zero = m_.row_vector(owned_rows_);
  const RowVector one = m_.row_vector(owned_rows_);
  const RowVector nothing = m_.row_vector(owned_rows_);
  m_.guarded([&] {
    m_.fill(zero, 0);
    m_.fill(one, 1);
    m_.fill(nothing, -kInfinity);
    m_.store_shared(rows_at(shape_.layout.sum), zero);
    m_.store_shared(rows_at(shape_.layout.rescale), one);
    m_.store_shared(rows_at(shape_.layout.previous_max), nothing);
    m_.store_shared(rows_at(shape_.layout.max), nothing);
  });
}

void SharedSoftmax::step(const Fragment& scores, const Fragment* output) const {
  m_.max_shared(rows_at(shape_.layout.max), scores);
  m_.barrier();
  m_.part(kRescaling);
  update_rescaling();
  m_.barrier();
  m_.part(kExponentials);
  // The source leaves this out in a first key block, where the output is zero.
  if (output != nullptr) {
    m_.apply(*output, BinaryOp::multiply, *output, rescaling(*output));
  }
  exponentiate(scores);
  m_.barrier();
  m_.part(kProbabilities);
  add_partial_sums();
}

void SharedSoftmax::update_rescaling() const {
  m_.guarded([&] {
    const RowVector rescale = loaded(owned_rows_, shape_.layout.previous_max);
    const RowVector max = loaded(owned_rows_, shape_.layout.max);
    const RowVector sum = loaded(owned_rows_, shape_.layout.sum);
    m_.apply(rescale, BinaryOp::subtract, rescale, max);
    m_.apply(rescale, UnaryOp::exp2, rescale);
    m_.apply(sum, BinaryOp::multiply, sum, rescale);
    m_.store_shared(rows_at(shape_.layout.rescale), rescale);
    m_.store_shared(rows_at(shape_.layout.sum), sum);
  });
}

void SharedSoftmax::exponentiate(const Fragment& scores) const {
  m_.apply(scores, BinaryOp::subtract, scores, loaded(scores, shape_.layout.max));
  m_.apply(scores, UnaryOp::exp2, scores);
  const RowVector sum = m_.row_vector(scores);
  m_.fill(sum, 0);
  m_.reduce_rows(sum, Reduce::sum, scores, true);
  m_.finish_rows(sum, Reduce::sum);
  m_.store_parts(rows_at(shape_.layout.partial_sums, shape_.tile.split().n), sum);
}

void SharedSoftmax::add_partial_sums() const {
  m_.guarded([&] {
    const RowVector sum = loaded(owned_rows_, shape_.layout.sum);
    const RowVector max = loaded(owned_rows_, shape_.layout.max);
    m_.store_shared(rows_at(shape_.layout.previous_max), max);
    const int row_bytes = rows_at(0).bytes_per_stage();
    for (int part = 0; part < shape_.tile.split().n; ++part) {
      m_.apply(sum, BinaryOp::add, sum, loaded(owned_rows_, shape_.layout.partial_sums + part * row_bytes));
    }
    m_.store_shared(rows_at(shape_.layout.sum), sum);
  });
}

RowVector SharedSoftmax::inverse_sums(const Fragment& like) const {
  const RowVector sum = loaded(like, shape_.layout.sum);
  m_.apply(sum, UnaryOp::reciprocal_or_one, sum);
  return sum;
}

RowVector SharedSoftmax::log_sum_exp() const {
  const RowVector max = loaded(owned_rows_, shape_.layout.max);
  const RowVector sum = loaded(owned_rows_, shape_.layout.sum);
  m_.apply(max, BinaryOp::divide, max, kLog2E);
  m_.apply(sum, UnaryOp::log_or_minus_infinity, sum);
  m_.apply(sum, BinaryOp::add, sum, max);
  return sum;
}

SharedTile SharedSoftmax::rows_at(int byte_offset, int parts) const {
  return {byte_offset, parts * shape_.tile.queries, 1, ElementType::fp32, 1, {}};
}

RowVector SharedSoftmax::loaded(const Fragment& like, int byte_offset) const {
  const RowVector result = m_.row_vector(like);
  m_.load_shared(result, rows_at(byte_offset));
  return result;
}

}  // namespace warpscope::kernels::xformers
