// Where the rows of segments that share lines lie.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "model/memory/block_cache.hpp"
#include "model/memory/tensor_extent.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::memory {

using trace::kLineBytes;

/// Of some rows of a segment, what lies in the same of the lines that a turn fills.
struct LinesOfRows {
  std::int64_t block = 0;  ///< of the tensor
  std::int64_t bytes = 0;
  std::uint64_t asked = 0;  ///< sectors that hold them, a bit for each of the block
  std::uint64_t lines = 0;  ///< likewise, of whole lines
};

/// Of `line_segments` segments, row i of each comes before row i + 1 of any. As many rows of all of them as
/// are a whole number of lines make up a turn. The first lines of all turns make up blocks, and so do the
/// second ones, and so on: a block leaves the L2 as a whole, a line by itself, and these are used alike.
/// Blocks of the same turns lie behind one another, those of all `interleaved_segments` (AddressMap::blocks).
class SharedLines {
 public:
  SharedLines(const TensorExtent& tensor, std::int64_t segment)
      : row_bytes_(tensor.row_bytes != 0 ? tensor.row_bytes : kLineBytes / tensor.line_segments),
        place_(segment % tensor.line_segments * row_bytes_),
        all_bytes_(tensor.line_segments * row_bytes_),
        turn_rows_(tensor.row_bytes != 0 ? kLineBytes / std::gcd(kLineBytes, all_bytes_) : 1),
        turn_lines_(std::max<std::int64_t>(1, turn_rows_ * all_bytes_ / kLineBytes)),
        columns_(turn_lines_ * std::max<std::int64_t>(1, tensor.interleaved_segments / tensor.line_segments)),
        first_block_(first_block(tensor, segment)) {}

  /// Calls `use` with the LinesOfRows of the bytes from offset `begin` to `end`.
  template <typename Use>
  void for_each(std::int64_t begin, std::int64_t end, const Use& use) const {
    const std::int64_t first_row = begin / row_bytes_;
    const std::int64_t end_row = (end - 1) / row_bytes_ + 1;
    for (std::int64_t row = 0; row < turn_rows_; ++row) {
      const std::int64_t place = row * all_bytes_ + place_;
      const auto turns_before = [&](std::int64_t limit) {
        return (limit - row + turn_rows_ - 1) / turn_rows_;
      };
      const std::int64_t end_turn = turns_before(end_row);
      for (std::int64_t line = place / kLineBytes; line * kLineBytes < place + row_bytes_; ++line) {
        for (std::int64_t turn = turns_before(first_row); turn < end_turn;) {
          const std::int64_t stop = std::min(end_turn, (turn | (kLinesPerBlock - 1)) + 1);
          const LinesOfRows part = lines_of({begin, end}, {place, line, row}, turn, stop);
          if (part.bytes > 0) {
            use(part);
          }
          turn = stop;
        }
      }
    }
  }

 private:
  std::int64_t first_block(const TensorExtent& tensor, std::int64_t segment) const {
    const std::int64_t blocks = (tensor.segment_bytes - 1) / (row_bytes_ * turn_rows_) / kLinesPerBlock + 1;
    const std::int64_t column = segment / tensor.line_segments * turn_lines_;
    return (column - column % columns_) * blocks + column % columns_;
  }

  /// Bytes of a segment.
  struct Span {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  /// Of a turn: where row number `row` of the segment begins, and one of the lines that it lies in.
  struct RowLine {
    std::int64_t place = 0;
    std::int64_t line = 0;
    std::int64_t row = 0;
  };

  /// That row's part of the line in turns [turn, stop), which are of one block.
  LinesOfRows lines_of(const Span& span, const RowLine& at, std::int64_t turn, std::int64_t stop) const {
    LinesOfRows result{.block = first_block_ + at.line + turn / kLinesPerBlock * columns_};
    // Bytes of the line, from its begin.
    const std::int64_t own = at.place - at.line * kLineBytes;
    for (; turn < stop; ++turn) {
      const std::int64_t row_begin = own - (turn * turn_rows_ + at.row) * row_bytes_;
      const std::int64_t first = std::max({span.begin + row_begin, own, std::int64_t{0}});
      const std::int64_t last = std::min({span.end + row_begin, own + row_bytes_, kLineBytes});
      if (first < last) {
        const std::int64_t sector = turn % kLinesPerBlock * kSectorsPerLine;
        result.bytes += last - first;
        result.lines |= ((std::uint64_t{1} << kSectorsPerLine) - 1) << sector;
        for (std::int64_t s = first / kSectorBytes; s * kSectorBytes < last; ++s) {
          result.asked |= std::uint64_t{1} << (sector + s);
        }
      }
    }
    return result;
  }

  std::int64_t row_bytes_;
  std::int64_t place_;      ///< of the segment's row among those of all
  std::int64_t all_bytes_;  ///< of a row of all
  std::int64_t turn_rows_;  ///< of each, in a turn
  std::int64_t turn_lines_;
  std::int64_t columns_;  ///< of lines, side by side
  std::int64_t first_block_;
};

}  // namespace warpscope::memory
