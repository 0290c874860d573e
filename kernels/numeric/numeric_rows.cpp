// The numeric machine's arithmetic on row vectors, lane by lane.
#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <string>

#include "kernels/numeric/numeric_machine.hpp"
#include "kernels/numeric/numeric_scalar.hpp"

namespace warpscope::kernels {

namespace {

std::int64_t count_of(const RowValues& rows) {
  return static_cast<std::int64_t>(rows.values.size());
}

std::int64_t count_of(const TileValues& tile) {
  return static_cast<std::int64_t>(tile.values.size());
}

void require_same_lanes(const RowValues& left, const RowValues& right) {
  if (left.rows != right.rows || !left.lanes.shares_lanes_with(right.lanes)) {
    throw std::logic_error("an operation on row vectors meets vectors of different lanes");
  }
}

}  // namespace

void NumericMachine::fill(const RowVector& target, float value) {
  std::ranges::fill(row(target).values, value);
}

LaneMap NumericMachine::lanes_of(const Fragment& fragment, const RowVector& vector) {
  const LaneMap lanes(fragment.layout, fragment.split, fragment.cols, fragment.type, threads_);
  if (fragment.rows != vector.rows || !lanes.shares_lanes_with(row(vector).lanes)) {
    throw std::logic_error("a row vector of " + std::to_string(vector.rows) + " rows in " +
                           std::to_string(row(vector).lanes.holders()) + " lanes meets a tile of " +
                           std::to_string(fragment.rows) + " rows in " + std::to_string(lanes.holders()));
  }
  return lanes;
}

void NumericMachine::update_rows(const RowVector& target, const RowVector& source,
                                 const std::function<float(float)>& function) {
  RowValues& to = row(target);
  const RowValues& from = row(source);
  require_same_lanes(to, from);
  std::ranges::transform(from.values, to.values.begin(), function);
}

void NumericMachine::apply(const RowVector& target, UnaryOp op, const RowVector& source) {
  update_rows(target, source, [op](float x) { return compute(op, x); });
  kind_of(flops_, op, false) += count_of(row(target));
}

void NumericMachine::apply(const RowVector& target, BinaryOp op, const RowVector& left,
                           const RowVector& right) {
  RowValues& to = row(target);
  const RowValues& one = row(left);
  const RowValues& other = row(right);
  require_same_lanes(to, one);
  require_same_lanes(to, other);
  for (std::size_t e = 0; e < to.values.size(); ++e) {
    to.values[e] = compute(op, one.values[e], other.values[e]);
  }
  flops_.row_vector += count_of(to);
}

void NumericMachine::apply(const RowVector& target, BinaryOp op, const RowVector& left, float right) {
  update_rows(target, left, [op, right](float x) { return compute(op, x, right); });
  flops_.row_vector += count_of(row(target));
}

void NumericMachine::reduce_rows(const RowVector& target, Reduce op, const Fragment& source,
                                 bool accumulate) {
  const LaneMap lanes = lanes_of(source, target);
  const TileValues& values = tile(source);
  RowValues& rows = row(target);
  if (!accumulate) {
    fill(target, op == Reduce::max ? -std::numeric_limits<float>::infinity() : 0.0F);
  }
  for (int i = 0; i < source.rows; ++i) {
    for (int j = 0; j < source.cols; ++j) {
      float& value = rows.at(i, lanes.holder_of(j));
      value = reduce(op, value, values.at(0, i, j));
    }
  }
  kind_of(flops_, op) += count_of(values) - (accumulate ? 0 : count_of(rows));
}

void NumericMachine::rescaled_row_sum(const RowVector& target, const RowVector& scale,
                                      const Fragment& source) {
  apply(target, BinaryOp::multiply, target, scale);
  reduce_rows(target, Reduce::sum, source, true);
}

void NumericMachine::row_dot(const RowVector& target, const Fragment& left, const Fragment& right,
                             bool accumulate) {
  const LaneMap lanes = lanes_of(left, target);
  lanes_of(right, target);
  const TileValues& one = tile(left);
  const TileValues& other = tile(right);
  require_same_shape(left.rows, left.cols, right.rows, right.cols, "row_dot");
  RowValues& rows = row(target);
  if (!accumulate) {
    fill(target, 0);
  }
  for (int i = 0; i < left.rows; ++i) {
    for (int j = 0; j < left.cols; ++j) {
      float& value = rows.at(i, lanes.holder_of(j));
      value = multiply_add_fused(one.at(0, i, j), other.at(0, i, j), value);
    }
  }
  flops_.tile_other += count_of(one);
  flops_.sum += count_of(one) - (accumulate ? 0 : count_of(rows));
}

void NumericMachine::finish_rows(const RowVector& target, Reduce op) {
  RowValues& rows = row(target);
  const int group = rows.lanes.group();
  for (int i = 0; i < rows.rows; ++i) {
    for (int first = 0; first < rows.lanes.holders(); first += group) {
      float value = rows.at(i, first);
      for (int lane = first + 1; lane < first + group; ++lane) {
        value = reduce(op, value, rows.at(i, lane));
      }
      for (int lane = first; lane < first + group; ++lane) {
        rows.at(i, lane) = value;
      }
    }
  }
  const int steps = static_cast<int>(std::bit_width(static_cast<unsigned>(group))) - 1;
  kind_of(flops_, op) += count_of(rows) * steps;
}

void NumericMachine::reduce_over_threads(const RowVector& target, const SharedTile& scratch, Reduce op) {
  RowValues& rows = row(target);
  const int holders = rows.lanes.holders();
  require_same_shape(holders, 1, scratch.rows, scratch.cols, "reduce_over_threads");
  const int run = rows.lanes.group();
  for (int i = 0; i < rows.rows; ++i) {
    float total = 0;
    for (int first = 0; first < holders; first += run) {
      float part = rows.at(i, first);
      for (int lane = first + 1; lane < first + run; ++lane) {
        part = reduce(op, part, rows.at(i, lane));
      }
      total = first == 0 ? part : reduce(op, total, part);
    }
    for (int holder = 0; holder < holders; ++holder) {
      rows.at(i, holder) = total;
    }
  }
  kind_of(flops_, op) += count_of(rows) + std::int64_t{rows.rows} * rows.lanes.groups();
}

}  // namespace warpscope::kernels
