// The memories of the numeric machine: tensors, shared memory, and the values in registers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/machine/plan.hpp"
#include "kernels/numeric/lane_map.hpp"

namespace warpscope::kernels {

/// What memory and registers hold before somebody writes them, so that a read too early shows in the result.
inline constexpr float kUnwritten = std::numeric_limits<float>::quiet_NaN();

/// A tensor of a plan with its values, segment by segment in row-major order, rounded to its type.
struct NumericTensor {
  TensorSpec spec;
  std::vector<float> values;

  bool contains(std::int64_t row, std::int64_t col) const {
    return row >= 0 && row < spec.rows && col >= 0 && col < spec.cols;
  }
  /// Throws std::logic_error for a segment that does not exist; row and col must be contained.
  float& at(std::int64_t segment, std::int64_t row, std::int64_t col);
};

/// Bytes of one CTA. Tiles that overlap alias. Warps run in any order between two barriers, so a byte that is
/// written and read between the same two barriers is a race: read and write throw std::logic_error for it.
/// What one thread reads it may write: read_own is for bytes that no other thread reads or writes.
class NumericSharedMemory {
 public:
  explicit NumericSharedMemory(std::size_t bytes);

  float read(std::size_t address, ElementType type);
  float read_own(std::size_t address, ElementType type);
  /// Atomic maximum of fp32 values: several threads may raise a value between two barriers.
  void raise(std::size_t address, float value);
  void write(std::size_t address, ElementType type, float value);
  /// A write that was under way since the barrier with number `since`.
  void write_late(std::size_t address, ElementType type, float value, std::uint32_t since);
  void pass_barrier() { ++barriers_; }
  std::uint32_t barriers() const { return barriers_; }
  /// Throws std::logic_error where the tile does not fit; `stage` is the evaluated slot of a ring.
  std::size_t address_of(const SharedTile& tile, std::int64_t stage) const;

 private:
  float value_at(std::size_t address, ElementType type) const;

  std::vector<std::uint8_t> bytes_;
  // Per byte the number of barriers passed when it was last read and written.
  std::vector<std::uint32_t> read_at_;
  std::vector<std::uint32_t> written_at_;
  std::uint32_t barriers_ = 1;
};

/// A tile in the registers of a CTA; `parts` copies where every warp holds a partial tile.
struct TileValues {
  Fragment shape;
  int parts = 1;
  std::vector<float> values;

  explicit TileValues(const Fragment& fragment);
  float& at(int part, int row, int col) { return values[index(part, row, col)]; }
  float at(int part, int row, int col) const { return values[index(part, row, col)]; }

 private:
  std::size_t index(int part, int row, int col) const {
    return static_cast<std::size_t>((part * shape.rows + row) * shape.cols + col);
  }
};

/// One value per row and per lane that holds a part of the row.
struct RowValues {
  int rows = 0;
  LaneMap lanes;
  std::vector<float> values;

  RowValues(int row_count, const LaneMap& lane_map);
  float& at(int row, int holder) { return values[index(row, holder)]; }
  float at(int row, int holder) const { return values[index(row, holder)]; }

 private:
  std::size_t index(int row, int holder) const {
    return static_cast<std::size_t>(row * lanes.holders() + holder);
  }
};

/// A dense matrix, the form in which operands meet in a matrix product.
struct DenseMatrix {
  int rows = 0;
  int cols = 0;
  std::vector<float> values;

  DenseMatrix(int row_count, int col_count)
      : rows(row_count),
        cols(col_count),
        values(static_cast<std::size_t>(row_count) * static_cast<std::size_t>(col_count)) {}
  float& at(int row, int col) { return values[static_cast<std::size_t>(row * cols + col)]; }
  const float* row(int number) const { return values.data() + static_cast<std::ptrdiff_t>(number) * cols; }
};

/// Bytes from the start of the tile to its element (i, j).
inline std::size_t element_offset(const SharedTile& tile, int i, int j) {
  return static_cast<std::size_t>(tile.element_index(i, j) * element_bytes(tile.type));
}

/// Throws std::logic_error that names `what` unless both shapes agree.
void require_same_shape(int rows, int cols, int other_rows, int other_cols, const char* what);

}  // namespace warpscope::kernels
