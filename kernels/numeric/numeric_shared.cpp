// The numeric machine's traffic between registers and shared memory.
#include <bit>

#include "kernels/numeric/numeric_machine.hpp"
#include "kernels/numeric/numeric_scalar.hpp"

namespace warpscope::kernels {

void NumericMachine::store_shared(const SharedTile& target, const Fragment& source) {
  require_same_shape(target.rows, target.cols, source.rows, source.cols, "store_shared");
  const std::size_t base = shared_address(target);
  const TileValues& values = tile(source);
  for (int i = 0; i < target.rows; ++i) {
    for (int j = 0; j < target.cols; ++j) {
      shared_.write(base + element_offset(target, i, j), target.type, values.at(0, i, j));
    }
  }
}

void NumericMachine::load_shared(const Fragment& target, const SharedTile& source, bool /*transposed*/) {
  require_same_shape(target.rows, target.cols, source.rows, source.cols, "load_shared");
  const std::size_t base = shared_address(source);
  TileValues& values = tile(target);
  for (int i = 0; i < source.rows; ++i) {
    for (int j = 0; j < source.cols; ++j) {
      values.at(0, i, j) = shared_.read(base + element_offset(source, i, j), source.type);
    }
  }
}

void NumericMachine::store_shared(const SharedTile& target, const RowVector& source) {
  require_same_shape(target.rows, target.cols, source.rows, 1, "store_shared");
  const std::size_t base = shared_address(target);
  const RowValues& values = row(source);
  for (int i = 0; i < source.rows; ++i) {
    // Every group of lanes writes; where groups disagree the last one would win on hardware as here.
    for (int group = 0; group < values.lanes.groups(); ++group) {
      shared_.write(base + static_cast<std::size_t>(i) * sizeof(float), ElementType::fp32,
                    values.at(i, group * values.lanes.group()));
    }
  }
}

void NumericMachine::load_shared(const RowVector& target, const SharedTile& source) {
  RowValues& values = row(target);
  if (values.lanes.holders() > 1) {
    load_reduced(target, source, 1, Reduce::max);
    return;
  }
  require_same_shape(target.rows, 1, source.rows, source.cols, "load_shared");
  const std::size_t base = shared_address(source);
  for (int i = 0; i < target.rows; ++i) {
    values.at(i, 0) = shared_.read_own(base + static_cast<std::size_t>(i) * sizeof(float), ElementType::fp32);
  }
}

void NumericMachine::max_shared(const SharedTile& target, const Fragment& source) {
  require_same_shape(target.rows, target.cols, source.rows, 1, "max_shared");
  const std::size_t base = shared_address(target);
  const TileValues& values = tile(source);
  for (int i = 0; i < source.rows; ++i) {
    for (int j = 0; j < source.cols; ++j) {
      shared_.raise(base + static_cast<std::size_t>(i) * sizeof(float), values.at(0, i, j));
    }
  }
  flops_.max += static_cast<std::int64_t>(values.values.size());
}

void NumericMachine::store_parts(const SharedTile& target, const Fragment& source) {
  const TileValues& values = tile(source);
  require_same_shape(target.rows, target.cols, values.parts * source.rows, source.cols, "store_parts");
  const std::size_t base = shared_address(target);
  for (std::size_t e = 0; e < values.values.size(); ++e) {
    shared_.write(base + e * sizeof(float), ElementType::fp32, values.values[e]);
  }
}

void NumericMachine::store_parts(const SharedTile& target, const RowVector& source) {
  const RowValues& values = row(source);
  require_same_shape(target.rows, target.cols, values.lanes.groups() * source.rows, 1, "store_parts");
  const std::size_t base = shared_address(target);
  for (int part = 0; part < values.lanes.groups(); ++part) {
    for (int i = 0; i < source.rows; ++i) {
      const auto element = static_cast<std::size_t>(part * source.rows + i);
      shared_.write(base + element * sizeof(float), ElementType::fp32,
                    values.at(i, part * values.lanes.group()));
    }
  }
}

void NumericMachine::load_reduced(const Fragment& target, const SharedTile& source, int parts, Reduce op) {
  require_same_shape(parts * target.rows, target.cols, source.rows, source.cols, "load_reduced");
  const std::size_t base = shared_address(source);
  TileValues& values = tile(target);
  const std::size_t elements = values.values.size();
  for (std::size_t e = 0; e < elements; ++e) {
    float value = shared_.read(base + e * sizeof(float), ElementType::fp32);
    for (std::size_t part = 1; part < static_cast<std::size_t>(parts); ++part) {
      value =
          reduce(op, value, shared_.read(base + (part * elements + e) * sizeof(float), ElementType::fp32));
    }
    values.values[e] = value;
  }
  flops_.tile_add += static_cast<std::int64_t>(elements) * (parts - 1);
}

void NumericMachine::load_reduced(const RowVector& target, const SharedTile& source, int parts, Reduce op) {
  require_same_shape(parts * target.rows, 1, source.rows, source.cols, "load_reduced");
  const std::size_t base = shared_address(source);
  RowValues& values = row(target);
  for (int i = 0; i < target.rows; ++i) {
    const auto read = [&](int part) {
      const auto element = static_cast<std::size_t>(part * target.rows + i);
      return shared_.read(base + element * sizeof(float), ElementType::fp32);
    };
    float value = read(0);
    for (int part = 1; part < parts; ++part) {
      value = reduce(op, value, read(part));
    }
    for (int holder = 0; holder < values.lanes.holders(); ++holder) {
      values.at(i, holder) = value;
    }
  }
  // Each lane reads one part and shuffles: log2(parts) operations in every lane.
  const std::int64_t operations = static_cast<std::int64_t>(target.rows) * values.lanes.holders() *
                                  (std::bit_width(static_cast<unsigned>(parts)) - 1);
  kind_of(flops_, op) += operations;
}

}  // namespace warpscope::kernels
