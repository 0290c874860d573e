// The numeric machine's matrix products and arithmetic on tiles.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/numeric/numeric_machine.hpp"
#include "kernels/numeric/numeric_scalar.hpp"
#include "kernels/numeric/philox.hpp"
#include "kernels/numeric/rounding.hpp"

namespace warpscope::kernels {

namespace {

constexpr int kKeysPerAtom = 16;

std::int64_t count_of(const TileValues& tile) {
  return static_cast<std::int64_t>(tile.values.size());
}

void require_same_elements(const TileValues& left, const TileValues& right) {
  if (left.shape.rows != right.shape.rows || left.shape.cols != right.shape.cols ||
      left.parts != right.parts) {
    throw std::logic_error("an operation on tiles meets tiles of different shape");
  }
}

}  // namespace

void NumericMachine::fill(const Fragment& target, float value) {
  std::ranges::fill(tile(target).values, value);
}

void NumericMachine::fill(const Fragment& target, const RowVector& rows) {
  const LaneMap lanes = lanes_of(target, rows);
  TileValues& values = tile(target);
  const RowValues& from = row(rows);
  for (int i = 0; i < target.rows; ++i) {
    for (int j = 0; j < target.cols; ++j) {
      values.at(0, i, j) = from.at(i, lanes.holder_of(j));
    }
  }
}

DenseMatrix NumericMachine::operand(const MmaOperand& operand, int rows, int cols) {
  DenseMatrix matrix(rows, cols);
  const int stored_rows = operand.transposed ? cols : rows;
  const int stored_cols = operand.transposed ? rows : cols;
  const auto place = [&](int i, int j, float value) {
    (operand.transposed ? matrix.at(j, i) : matrix.at(i, j)) = value;
  };
  const auto require = [&](int have_rows, int have_cols, ElementType type) {
    if (have_rows != stored_rows || have_cols != stored_cols || type == ElementType::fp32) {
      throw std::logic_error("operand of a matrix product is " + std::to_string(have_rows) + " x " +
                             std::to_string(have_cols) + ", needs 16-bit " + std::to_string(stored_rows) +
                             " x " + std::to_string(stored_cols));
    }
  };
  if (const auto* shared = std::get_if<SharedTile>(&operand.tile)) {
    require(shared->rows, shared->cols, shared->type);
    const std::size_t base = shared_address(*shared);
    for (int i = 0; i < stored_rows; ++i) {
      for (int j = 0; j < stored_cols; ++j) {
        place(i, j, shared_.read(base + element_offset(*shared, i, j), shared->type));
      }
    }
    return matrix;
  }
  const TileValues& values = tile(std::get<Fragment>(operand.tile));
  require(values.shape.rows, values.shape.cols, values.shape.type);
  for (int i = 0; i < stored_rows; ++i) {
    for (int j = 0; j < stored_cols; ++j) {
      place(i, j, values.at(0, i, j));
    }
  }
  return matrix;
}

void NumericMachine::mma(const Fragment& accumulator, const MmaOperand& a, const MmaOperand& b) {
  const bool a_is_shared = std::holds_alternative<SharedTile>(a.tile);
  const int rows_of_a = a_is_shared ? std::get<SharedTile>(a.tile).rows : std::get<Fragment>(a.tile).rows;
  const int cols_of_a = a_is_shared ? std::get<SharedTile>(a.tile).cols : std::get<Fragment>(a.tile).cols;
  const int depth = a.transposed ? rows_of_a : cols_of_a;
  const DenseMatrix left = operand(a, accumulator.rows, depth);
  const DenseMatrix right = operand(b, depth, accumulator.cols);
  TileValues& sums = tile(accumulator);
  for (int i = 0; i < accumulator.rows; ++i) {
    for (int k = 0; k < depth; ++k) {
      const int part = (k / kKeysPerAtom) % sums.parts;
      const float factor = left.row(i)[k];
      const float* row_of_right = right.row(k);
      float* sum = &sums.at(part, i, 0);
      for (int j = 0; j < accumulator.cols; ++j) {
        sum[j] += factor * row_of_right[j];
      }
    }
  }
  flops_.matmul += std::int64_t{2} * accumulator.rows * accumulator.cols * depth;
}

void NumericMachine::mask(const Fragment& scores, const Mask& mask) {
  TileValues& values = tile(scores);
  const std::int64_t first_row = position_.evaluate(mask.first_row);
  const std::int64_t first_col = position_.evaluate(mask.first_col);
  const std::int64_t limit = position_.evaluate(mask.col_limit);
  for (int i = 0; i < scores.rows; ++i) {
    for (int j = 0; j < scores.cols; ++j) {
      const std::int64_t col = first_col + j;
      const std::int64_t own = first_row + i + mask.diagonal;
      if (col >= limit || (mask.causal && col > own) ||
          (mask.window && (col < own - mask.left || col > own + mask.right))) {
        values.at(0, i, j) = -std::numeric_limits<float>::infinity();
      }
    }
  }
  flops_.mask += count_of(values);
}

void NumericMachine::add_bias(const Fragment& scores, const DistanceBias& bias) {
  TileValues& values = tile(scores);
  const std::int64_t first_row = position_.evaluate(bias.first_row) + bias.diagonal;
  const std::int64_t first_col = position_.evaluate(bias.first_col);
  const double head = static_cast<double>(position_.evaluate(bias.head) + 1);
  const auto slope =
      static_cast<float>(std::exp2(-8.0 * head / static_cast<double>(bias.heads)) / bias.scale);
  for (int i = 0; i < scores.rows; ++i) {
    for (int j = 0; j < scores.cols; ++j) {
      const std::int64_t term = bias.columns_only ? first_col + j : -std::abs(first_row + i - first_col - j);
      values.at(0, i, j) = multiply_add_fused(slope, static_cast<float>(term), values.at(0, i, j));
    }
  }
  flops_.tile_other += count_of(values);
}

void NumericMachine::drop(const Fragment& weights, const Dropout& dropout) {
  TileValues& values = tile(weights);
  const std::int64_t first_row = position_.evaluate(dropout.first_row);
  const std::int64_t first_col = position_.evaluate(dropout.first_col);
  const std::int64_t head = position_.evaluate(dropout.head);
  for (int i = 0; i < weights.rows; ++i) {
    for (int j = 0; j < weights.cols; ++j) {
      const bool keeps = keeps_weight(head, first_row + i, first_col + j, dropout.probability);
      values.at(0, i, j) = keeps ? values.at(0, i, j) : 0;
    }
  }
}

void NumericMachine::convert(const Fragment& target, const Fragment& source) {
  update_tile(target, source, [](float x) { return x; });
}

void NumericMachine::update_tile(const Fragment& target, const Fragment& source,
                                 const std::function<float(float)>& function) {
  TileValues& to = tile(target);
  const TileValues& from = tile(source);
  require_same_elements(to, from);
  std::ranges::transform(from.values, to.values.begin(),
                         [&](float x) { return round_to(target.type, function(x)); });
}

void NumericMachine::apply(const Fragment& target, UnaryOp op, const Fragment& source) {
  update_tile(target, source, [op](float x) { return compute(op, x); });
  kind_of(flops_, op, true) += count_of(tile(target));
}

void NumericMachine::apply(const Fragment& target, BinaryOp op, const Fragment& left, const Fragment& right) {
  TileValues& to = tile(target);
  const TileValues& one = tile(left);
  const TileValues& other = tile(right);
  require_same_elements(to, one);
  require_same_elements(to, other);
  for (std::size_t e = 0; e < to.values.size(); ++e) {
    to.values[e] = round_to(target.type, compute(op, one.values[e], other.values[e]));
  }
  kind_of_tile(flops_, op) += count_of(to);
}

void NumericMachine::apply(const Fragment& target, BinaryOp op, const Fragment& left, float right) {
  update_tile(target, left, [op, right](float x) { return compute(op, x, right); });
  kind_of_tile(flops_, op) += count_of(tile(target));
}

void NumericMachine::apply(const Fragment& target, BinaryOp op, const Fragment& left,
                           const RowVector& right) {
  // A row's values of partial tiles are those that the warp of each part has.
  const WarpSplit owners = left.split.k > 1 ? WarpSplit{left.split.m, left.split.k, 1} : left.split;
  const LaneMap lanes = lanes_of({left.id, left.rows, left.cols, left.type, left.layout, owners}, right);
  TileValues& to = tile(target);
  const TileValues& from = tile(left);
  const RowValues& rows = row(right);
  require_same_elements(to, from);
  for (int part = 0; part < from.parts; ++part) {
    for (int i = 0; i < left.rows; ++i) {
      for (int j = 0; j < left.cols; ++j) {
        const int holder =
            from.parts > 1 ? part * lanes.group() + lanes.holder_of(j) % lanes.group() : lanes.holder_of(j);
        to.at(part, i, j) = round_to(target.type, compute(op, from.at(part, i, j), rows.at(i, holder)));
      }
    }
  }
  kind_of_tile(flops_, op) += count_of(to);
}

void NumericMachine::multiply_add(const Fragment& target, const Fragment& left, const RowVector& factor,
                                  const Fragment& addend) {
  const LaneMap lanes = lanes_of(left, factor);
  TileValues& to = tile(target);
  const TileValues& from = tile(left);
  const TileValues& add = tile(addend);
  const RowValues& rows = row(factor);
  require_same_elements(to, from);
  require_same_elements(to, add);
  for (int i = 0; i < left.rows; ++i) {
    for (int j = 0; j < left.cols; ++j) {
      const float multiplier = rows.at(i, lanes.holder_of(j));
      const float sum = launch_.build.math.fused_multiply_add
                            ? multiply_add_fused(from.at(0, i, j), multiplier, add.at(0, i, j))
                            : from.at(0, i, j) * multiplier + add.at(0, i, j);
      to.at(0, i, j) = round_to(target.type, sum);
    }
  }
  flops_.tile_scale += count_of(to);
  flops_.tile_add += count_of(to);
}

void NumericMachine::exp2_scaled(const Fragment& target, float scale, const RowVector& offset) {
  const LaneMap lanes = lanes_of(target, offset);
  TileValues& values = tile(target);
  const RowValues& rows = row(offset);
  for (int i = 0; i < target.rows; ++i) {
    for (int j = 0; j < target.cols; ++j) {
      const float x = values.at(0, i, j);
      const float subtract = rows.at(i, lanes.holder_of(j));
      const float exponent = launch_.build.math.fused_multiply_add ? multiply_add_fused(x, scale, -subtract)
                                                                   : x * scale - subtract;
      values.at(0, i, j) = round_to(target.type, compute(UnaryOp::exp2, exponent));
    }
  }
  flops_.exponential += count_of(values);
  flops_.score_scale += 2 * count_of(values);
}

}  // namespace warpscope::kernels
