// Rows of several segments in the same lines: which blocks hold them, and what is read with them.
#include "model/memory/shared_lines.hpp"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace warpscope::memory {
namespace {

std::vector<LinesOfRows> parts_of(const TensorExtent& tensor, std::int64_t segment, std::int64_t begin,
                                  std::int64_t end) {
  std::vector<LinesOfRows> parts;
  SharedLines(tensor, segment).for_each(begin, end, [&](const LinesOfRows& part) { parts.push_back(part); });
  return parts;
}

/// 40 rows of 192 bytes: two segments have three lines a row, of which they share the second.
constexpr TensorExtent kPairs{.segments = 4, .segment_bytes = 40 * 192, .line_segments = 2, .row_bytes = 192};

TEST(SharedLines, ARowOfTheFirstIsALineAndAHalf) {
  const std::vector<LinesOfRows> parts = parts_of(kPairs, 0, 5 * 192, 6 * 192);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].block, 0);
  EXPECT_EQ(parts[0].bytes, 128);
  EXPECT_EQ(parts[0].asked, 0xfULL << 20);
  EXPECT_EQ(parts[0].lines, 0xfULL << 20);
  EXPECT_EQ(parts[1].block, 1) << "the second of three lines";
  EXPECT_EQ(parts[1].bytes, 64);
  EXPECT_EQ(parts[1].asked, 0x3ULL << 20);
  EXPECT_EQ(parts[1].lines, 0xfULL << 20);
}

TEST(SharedLines, ARowOfTheSecondIsTheOtherHalfAndALine) {
  const std::vector<LinesOfRows> parts = parts_of(kPairs, 1, 5 * 192, 6 * 192);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].block, 1);
  EXPECT_EQ(parts[0].asked, 0xcULL << 20);
  EXPECT_EQ(parts[0].lines, 0xfULL << 20);
  EXPECT_EQ(parts[1].block, 2);
  EXPECT_EQ(parts[1].bytes, 128);
}

TEST(SharedLines, PartsOfRowsAreTheSectorsTheyTouch) {
  // The last 32 bytes of row 15 and the first 160 of row 16.
  const std::vector<LinesOfRows> parts = parts_of(kPairs, 0, 16 * 192 - 32, 16 * 192 + 160);
  ASSERT_EQ(parts.size(), 3U);
  EXPECT_EQ(parts[0].block, 3) << "16 rows fill three blocks";
  EXPECT_EQ(parts[0].bytes, 128);
  EXPECT_EQ(parts[1].block, 1);
  EXPECT_EQ(parts[1].asked, 0x2ULL << 60);
  EXPECT_EQ(parts[2].block, 4);
  EXPECT_EQ(parts[2].asked, 0x1ULL);
}

/// Three heads of 192 bytes: four and a half lines a token, nine for two.
constexpr TensorExtent kOdd{.segments = 3, .segment_bytes = 40 * 192, .line_segments = 3, .row_bytes = 192};

TEST(SharedLines, RowsOfTwoTokensFillLinesWhereThoseOfOneDoNot) {
  // Row 7 of the first is the second one of its turn: it begins in the middle of the fifth line.
  const std::vector<LinesOfRows> parts = parts_of(kOdd, 0, 7 * 192, 8 * 192);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].block, 4);
  EXPECT_EQ(parts[0].bytes, 64);
  EXPECT_EQ(parts[0].asked, 0xcULL << 12) << "the fourth turn";
  EXPECT_EQ(parts[0].lines, 0xfULL << 12);
  EXPECT_EQ(parts[1].block, 5);
  EXPECT_EQ(parts[1].bytes, 128);
  // The last of the token before ends there.
  EXPECT_EQ(parts_of(kOdd, 2, 6 * 192, 7 * 192)[1].asked, 0x3ULL << 12);
}

// All bytes of all segments, 48 at a time: each is asked for once, and no two of them are in the same place.
TEST(SharedLines, EveryByteHasAPlaceOfItsOwn) {
  for (const TensorExtent& tensor :
       {kPairs, kOdd, TensorExtent{.segments = 6, .segment_bytes = 33 * 64, .line_segments = 2},
        TensorExtent{.segments = 8, .segment_bytes = 17 * 160, .line_segments = 4, .row_bytes = 160},
        TensorExtent{.segments = 12,
        .segment_bytes = 33 * 192,
        .interleaved_segments = 6,
        .line_segments = 2,
        .row_bytes = 192},
        TensorExtent{.segments = 12,
        .segment_bytes = 67 * 224,
        .interleaved_segments = 6,
        .line_segments = 6,
        .row_bytes = 224}}) {
    std::map<std::int64_t, std::uint64_t> taken;
    for (std::int64_t segment = 0; segment < tensor.segments; ++segment) {
      std::int64_t bytes = 0;
      for (std::int64_t begin = 0; begin < tensor.segment_bytes; begin += 32) {
        for (const LinesOfRows& part : parts_of(tensor, segment, begin, begin + 32)) {
          EXPECT_EQ(taken[part.block] & part.asked, 0U) << segment << ' ' << begin;
          EXPECT_EQ(part.asked & ~part.lines, 0U);
          taken[part.block] |= part.asked;
          bytes += part.bytes;
        }
      }
      EXPECT_EQ(bytes, tensor.segment_bytes);
    }
  }
}

}  // namespace
}  // namespace warpscope::memory
