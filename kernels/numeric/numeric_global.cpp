// The numeric machine's traffic with tensors.
#include <iterator>
#include <stdexcept>
#include <string>

#include "kernels/numeric/numeric_machine.hpp"
#include "kernels/numeric/rounding.hpp"

namespace warpscope::kernels {

namespace {

// Calls use(i, j, row, col) for every element (i, j) of the tile that lies within the tensor, else skip(i,
// j).
template <typename Use, typename Skip>
void for_each_element(const CtaPosition& position, const NumericTensor& tensor, const GlobalTile& tile,
                      Use use, Skip skip) {
  std::int64_t first_row = position.evaluate(tile.row);
  std::int64_t first_col = position.evaluate(tile.col);
  if (tile.numbered) {
    const std::int64_t number = position.evaluate(tile.number);
    const std::int64_t columns = tensor.spec.cols / tile.cols;
    first_row = number / columns * tile.rows;
    first_col = number % columns * tile.cols;
  }
  for (int i = 0; i < tile.rows; ++i) {
    for (int j = 0; j < tile.cols; ++j) {
      // A flat tile counts its columns through the rows of the segment.
      std::int64_t row = tile.flat ? (first_col + j) / tensor.spec.cols : first_row + i;
      std::int64_t col = tile.flat ? (first_col + j) % tensor.spec.cols : first_col + j;
      if (tile.transposed) {
        row = first_row + j;
        col = first_col + i;
      }
      const bool inside = tile.rows_inside == 0 || i < tile.rows_inside;
      if (inside && tensor.contains(row, col)) {
        use(i, j, row, col);
      } else {
        skip(i, j);
      }
    }
  }
}

}  // namespace

NumericMachine::Place NumericMachine::place(const GlobalTile& tile, std::int64_t segment, std::int64_t row) {
  const Pages& pages = tile.pages;
  if (pages.table < 0) {
    return {segment, row};
  }
  NumericTensor& table = tensors_.at(static_cast<std::size_t>(pages.table));
  const auto page = static_cast<std::int64_t>(table.at(0, segment / pages.segments, row / pages.rows));
  return {page / table.spec.cols * pages.segments + segment % pages.segments,
          page % table.spec.cols * pages.rows + row % pages.rows};
}

void NumericMachine::copy_async(const SharedTile& target, const GlobalTile& source) {
  require_same_shape(target.rows, target.cols, source.rows, source.cols, "copy_async");
  NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(source.tensor));
  const std::int64_t segment = position_.evaluate(source.segment);
  const std::size_t base = shared_address(target);
  const auto write = [&](int i, int j, float value) {
    open_group_.push_back({base + element_offset(target, i, j), target.type, value, shared_.barriers()});
  };
  for_each_element(
      position_, tensor, source,
      [&](int i, int j, std::int64_t r, std::int64_t c) {
        const Place there = place(source, segment, r);
        write(i, j, tensor.at(there.segment, there.row, c));
      },
      [&](int i, int j) {
        if (source.out_of_range == OutOfRange::zero) {
          write(i, j, 0);
        }
      });
}

void NumericMachine::load(const Fragment& target, const GlobalTile& source) {
  require_same_shape(target.rows, target.cols, source.rows, source.cols, "load");
  NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(source.tensor));
  const std::int64_t segment = position_.evaluate(source.segment);
  TileValues& values = tile(target);
  for_each_element(
      position_, tensor, source,
      [&](int i, int j, std::int64_t r, std::int64_t c) { values.at(0, i, j) = tensor.at(segment, r, c); },
      [&](int i, int j) {
        if (source.out_of_range == OutOfRange::zero) {
          values.at(0, i, j) = 0;
        }
      });
}

void NumericMachine::store(const GlobalTile& target, const Fragment& source) {
  require_same_shape(target.rows, target.cols, source.rows, source.cols, "store");
  NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(target.tensor));
  const std::int64_t segment = position_.evaluate(target.segment);
  const TileValues& values = tile(source);
  for_each_element(
      position_, tensor, target,
      [&](int i, int j, std::int64_t r, std::int64_t c) {
        tensor.at(segment, r, c) = round_to(tensor.spec.type, values.at(0, i, j));
      },
      [](int, int) {});
}

void NumericMachine::reduce_add(const GlobalTile& target, const Fragment& source) {
  require_same_shape(target.rows, target.cols, source.rows, source.cols, "reduce_add");
  NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(target.tensor));
  const std::int64_t segment = position_.evaluate(target.segment);
  const TileValues& values = tile(source);
  for_each_element(
      position_, tensor, target,
      [&](int i, int j, std::int64_t r, std::int64_t c) {
        tensor.at(segment, r, c) += values.at(0, i, j);
        ++flops_.tile_add;
      },
      [](int, int) {});
}

void NumericMachine::add_sums(const Fragment& target, const GlobalTile& source, int /*registers*/) {
  require_same_shape(target.rows, target.cols, source.rows, source.cols, "add_sums");
  NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(source.tensor));
  const std::int64_t segment = position_.evaluate(source.segment);
  TileValues& values = tile(target);
  for_each_element(
      position_, tensor, source,
      [&](int i, int j, std::int64_t r, std::int64_t c) { values.at(0, i, j) += tensor.at(segment, r, c); },
      [](int, int) {});
  flops_.tile_add += static_cast<std::int64_t>(target.rows) * target.cols;
}

void NumericMachine::load_rows(const RowVector& target, const GlobalTile& source) {
  require_same_shape(target.rows, 1, source.rows, source.cols, "load_rows");
  NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(source.tensor));
  const std::int64_t segment = position_.evaluate(source.segment);
  RowValues& values = row(target);
  const auto broadcast = [&](int i, float value) {
    for (int holder = 0; holder < values.lanes.holders(); ++holder) {
      values.at(i, holder) = value;
    }
  };
  for_each_element(
      position_, tensor, source,
      [&](int i, int, std::int64_t r, std::int64_t c) { broadcast(i, tensor.at(segment, r, c)); },
      [&](int i, int) {
        if (source.out_of_range == OutOfRange::zero) {
          broadcast(i, 0);
        }
      });
}

void NumericMachine::read_settled(std::initializer_list<GlobalTile> numbers, const Affine& difference) {
  const auto value = [&](const GlobalTile& number) {
    NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(number.tensor));
    return static_cast<std::int64_t>(tensor.at(
        position_.evaluate(number.segment), position_.evaluate(number.row), position_.evaluate(number.col)));
  };
  const std::int64_t found = value(*std::prev(numbers.end())) - value(*numbers.begin());
  if (const std::int64_t expected = position_.evaluate(difference); found != expected) {
    throw std::logic_error("memory has " + std::to_string(found) + " where the class of the CTA says " +
                           std::to_string(expected));
  }
}

void NumericMachine::store_rows(const GlobalTile& target, const RowVector& source) {
  require_same_shape(target.rows, target.cols, source.rows, 1, "store_rows");
  NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(target.tensor));
  const std::int64_t segment = position_.evaluate(target.segment);
  const RowValues& values = row(source);
  for_each_element(
      position_, tensor, target,
      [&](int i, int, std::int64_t r, std::int64_t c) {
        tensor.at(segment, r, c) = round_to(tensor.spec.type, values.at(i, 0));
      },
      [](int, int) {});
}

void NumericMachine::copy_box(const SharedTile& target, const GlobalTile& source, int number,
                              int /*sharers*/) {
  require_same_shape(target.rows, target.cols, source.rows, source.cols, "copy_box");
  NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(source.tensor));
  const std::int64_t segment = position_.evaluate(source.segment);
  const std::size_t base = shared_address(target);
  const auto write = [&](int i, int j, float value) {
    shared_.write(base + element_offset(target, i, j), target.type, value);
  };
  for_each_element(
      position_, tensor, source,
      [&](int i, int j, std::int64_t r, std::int64_t c) { write(i, j, tensor.at(segment, r, c)); },
      [&](int i, int j) { write(i, j, 0); });
  ring(number);
  rings_[static_cast<std::size_t>(number)].bytes += target.rows * target.cols * element_bytes(target.type);
}

void NumericMachine::store_box(const GlobalTile& target, const SharedTile& source, int number) {
  require_same_shape(target.rows, target.cols, source.rows, source.cols, "store_box");
  NumericTensor& tensor = tensors_.at(static_cast<std::size_t>(target.tensor));
  const std::int64_t segment = position_.evaluate(target.segment);
  const std::size_t base = shared_address(source);
  for_each_element(
      position_, tensor, target,
      [&](int i, int j, std::int64_t r, std::int64_t c) {
        tensor.at(segment, r, c) = shared_.read(base + element_offset(source, i, j), source.type);
      },
      [](int, int) {});
  ring(number);
  rings_[static_cast<std::size_t>(number)].bytes += source.rows * source.cols * element_bytes(source.type);
}

}  // namespace warpscope::kernels
