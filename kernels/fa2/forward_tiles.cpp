#include "kernels/fa2/forward_tiles.hpp"

#include <cmath>
#include <numbers>

#include "kernels/fa2/paged_keys.hpp"
#include "kernels/fa2/sequence_lengths.hpp"

namespace warpscope::kernels::fa2 {
namespace {

double scale_of(const Problem& problem) {
  return problem.softcap != 0 ? problem.softcap : 1.0 / std::sqrt(static_cast<double>(problem.head_dim));
}

}  // namespace

ForwardTiles::ForwardTiles(CtaMachine& machine, const ForwardShape& shape, int rows)
    : m_(machine),
      shape_(shape),
      rows_(rows),
      type_(shape.problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16),
      scale_(scale_of(shape.problem)),
      scale_log2_(static_cast<float>(scale_ * std::numbers::log2e)),
      q_{0, shape.tile.rows, shape.tile.head_dim, type_, 1, {}},
      k_{q_.bytes_per_stage(), shape.tile.keys, shape.tile.head_dim, type_, 1, {}},
      v_{k_.byte_offset + k_.bytes_per_stage(), shape.tile.keys, shape.tile.head_dim, type_, 1, {}} {}

// Grids are (query blocks, batch, heads), or (query blocks, parts, batch * heads) where keys are divided.
Affine ForwardTiles::query_segment() const {
  return shape_.divides_keys() ? block_index(2) : block_index(1) * shape_.problem.heads + block_index(2);
}

Affine ForwardTiles::query_row(const Affine& block) const {
  const Affine row = block * shape_.tile.rows;
  return shape_.has_lengths() ? row + class_symbol(kRowsBefore) : row;
}

Affine ForwardTiles::row_of_all(const Affine& block) const {
  return block_index(2) * shape_.problem.seqlen_q + block * shape_.tile.rows;
}

GlobalTile ForwardTiles::queries(int tensor, const Affine& block) const {
  return {tensor, query_segment(), query_row(block), 0, shape_.tile.rows, shape_.tile.head_dim, beyond()};
}

GlobalTile ForwardTiles::row_values(int tensor, const Affine& block) const {
  if (shape_.divides_keys()) {
    GlobalTile tile{tensor, 0, block_index(1), row_of_all(block), shape_.tile.rows, 1, OutOfRange::leave};
    tile.transposed = true;
    tile.rows_inside = rows_;
    return tile;
  }
  return {tensor, query_segment(), query_row(block), 0, shape_.tile.rows, 1, OutOfRange::leave};
}

SharedTile ForwardTiles::shared_output() const {
  SharedTile tile = q_;
  tile.type = output_type();
  return tile;
}

GlobalTile ForwardTiles::output(const Affine& block) const {
  if (!shape_.divides_keys()) {
    return queries(kO, block);
  }
  GlobalTile tile{kPartO,           block_index(1),       row_of_all(block), 0,
                  shape_.tile.rows, shape_.tile.head_dim, OutOfRange::leave};
  tile.rows_inside = rows_;
  return tile;
}

// Heads of one group share K and V. Rows of V beyond the sequence must be zero, since 0 * NaN is NaN; rows
// of K need not be: their scores are masked.
GlobalTile ForwardTiles::keys(int tensor, const Affine& first) const {
  const std::int64_t group = shape_.problem.heads / shape_.problem.heads_kv;
  const Affine head = block_index(2, static_cast<std::int32_t>(group));
  const Affine segment = shape_.divides_keys() ? head : block_index(1) * shape_.problem.heads_kv + head;
  GlobalTile tile{tensor,
                  segment,
                  first,
                  0,
                  shape_.tile.keys,
                  shape_.tile.head_dim,
                  tensor == kV ? OutOfRange::zero : beyond()};
  tile.pages = pages_of(shape_);
  return tile;
}

Mask ForwardTiles::mask(const Affine& query_block, const Affine& key_block) const {
  const Problem& problem = shape_.problem;
  return {query_block * shape_.tile.rows,
          key_block * shape_.tile.keys,
          shape_.has_lengths() ? class_symbol(kLength) : Affine(problem.seqlen_k),
          problem.causal,
          problem.seqlen_k - problem.seqlen_q,
          shape_.has_window(),
          problem.window.left,
          problem.window.right};
}

float ForwardTiles::softcap_factor() const {
  return static_cast<float>(1.0 / (std::sqrt(static_cast<double>(shape_.problem.head_dim)) * scale_));
}

DistanceBias ForwardTiles::bias(const Affine& query_block, const Affine& key_block) const {
  const Problem& problem = shape_.problem;
  return {query_block * shape_.tile.rows,
          key_block * shape_.tile.keys,
          problem.seqlen_k - problem.seqlen_q,
          problem.causal,
          block_index(2),
          problem.heads,
          scale_};
}

Dropout ForwardTiles::dropout(const Affine& query_block, const Affine& key_block) const {
  return {query_block * shape_.tile.rows, key_block * shape_.tile.keys, query_segment(),
          shape_.problem.dropout};
}

RowVector ForwardTiles::row_statistic(const Fragment& like, const RowVector& max,
                                      const RowVector& sum) const {
  const RowVector lse = m_.row_vector(like);
  m_.apply(max, UnaryOp::zero_if_minus_infinity, max);
  m_.apply(max, BinaryOp::multiply, max, static_cast<float>(scale_));
  if (!shape_.options.lse) {
    return max;
  }
  m_.apply(lse, shape_.divides_keys() ? UnaryOp::log_or_minus_infinity : UnaryOp::log_or_infinity, sum);
  m_.apply(lse, BinaryOp::add, lse, max);
  return lse;
}

void ForwardTiles::store_row_statistic(const RowVector& statistic, const RowVector& sum,
                                       const Affine& block) const {
  m_.store_rows(row_values(shape_.divides_keys() ? kPartLse : kLse, block), statistic);
  if (!shape_.options.lse) {
    m_.store_rows(row_values(kRowSum, block), sum);
  }
}

// Columns between the problem's head dimension and the tile's take part in Q K^T and must be zero.
OutOfRange ForwardTiles::beyond() const {
  return shape_.problem.head_dim == shape_.tile.head_dim ? OutOfRange::leave : OutOfRange::zero;
}

}  // namespace warpscope::kernels::fa2
