// The slices of the L2 together: who gets which part of a request, in which order, and how much they hold.
#include "model/memory/memory_system.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tests/support/test_config.hpp"

namespace warpscope::memory {
namespace {

constexpr double kClockMhz = 1000;

std::vector<TensorExtent> tensors() {
  return {{.segments = 3, .segment_bytes = 5000}, {.segments = 1, .segment_bytes = 64 << 20}};
}

Access access(std::uint16_t tensor, std::int64_t segment, std::int64_t offset, std::uint32_t bytes) {
  Access result;
  result.tensor = tensor;
  result.segment = segment;
  result.offset = offset;
  result.bytes = bytes;
  return result;
}

std::vector<Piece> pieces_of(const MemorySystem& memory, const Access& what) {
  std::vector<Piece> pieces;
  const int count = memory.split(what, pieces);
  EXPECT_EQ(count, static_cast<int>(pieces.size()));
  return pieces;
}

TEST(MemorySystem, SplitsAtBlocks) {
  const MemorySystem memory(test::test_config(), tensors());
  Access what = access(0, 1, 2048 - 100, 1024);
  what.number = 7;
  const std::vector<Piece> pieces = pieces_of(memory, what);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].bytes, 100);
  EXPECT_EQ(pieces[1].bytes, 924);
  EXPECT_EQ(pieces[0].first_sector, 60) << "the sector in which byte 1948 lies";
  EXPECT_EQ(pieces[0].sectors, 4);
  EXPECT_EQ(pieces[1].first_sector, 0);
  EXPECT_EQ(pieces[1].sectors, 29);
  EXPECT_EQ(pieces[1].key, pieces[0].key + 1);
  EXPECT_EQ(pieces[1].number, pieces[0].number + 1);
  EXPECT_EQ(pieces[0].number, 7U);
}

TEST(MemorySystem, SegmentsAndTensorsShareNoBlock) {
  const MemorySystem memory(test::test_config(), tensors());
  std::set<std::uint64_t> keys;
  for (std::int64_t segment = 0; segment < 3; ++segment) {
    for (const Piece& piece : pieces_of(memory, access(0, segment, 0, 5000))) {
      EXPECT_TRUE(keys.insert(piece.key).second);
    }
  }
  EXPECT_EQ(keys.size(), 9U) << "three blocks for each segment of 5000 bytes";
  EXPECT_TRUE(keys.insert(pieces_of(memory, access(1, 0, 0, 32))[0].key).second);
}

// Heads of 32 fp16 numbers lie in lines by pairs: who reads one has HBM bring the other.
TEST(MemorySystem, WhoReadsARowHasItsLinesBrought) {
  MemorySystem memory(test::test_config(), {{.segments = 5, .segment_bytes = 5120, .line_segments = 2}});
  const std::vector<Piece> pieces = pieces_of(memory, access(0, 3, 1024 - 64, 128));
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[1].key, pieces[0].key + 1) << "16 rows of two heads fill a block";
  EXPECT_EQ(pieces[0].bytes, 64);
  EXPECT_EQ(pieces[0].sectors, 2) << "that are asked for";
  EXPECT_EQ(pieces[0].first_sector, 62);
  EXPECT_EQ(pieces[0].mask, 0xfULL << 60);
  EXPECT_EQ(pieces[1].mask, 0xfULL);
  EXPECT_EQ(pieces_of(memory, access(0, 2, 0, 64))[0].key, pieces_of(memory, access(0, 3, 0, 64))[0].key);
  Access write = access(0, 1, 0, 64);
  write.kind = AccessKind::write;
  EXPECT_EQ(pieces_of(memory, write)[0].mask, 0xcULL) << "its own half";

  memory.begin_launch(kClockMhz, false);
  memory.touch(std::vector<Access>{access(0, 2, 0, 1024)}, 0);
  EXPECT_EQ(memory.traffic()[0].hbm_read, 2048U);
  EXPECT_EQ(memory.traffic()[0].l2_read, 1024U);
  EXPECT_EQ(memory.traffic()[0].l2_read_hit, 0U);
  memory.touch(std::vector<Access>{access(0, 3, 0, 1024)}, 2048);
  EXPECT_EQ(memory.traffic()[0].hbm_read, 2048U);
  EXPECT_EQ(memory.traffic()[0].l2_read_hit, 1024U);
}

TEST(MemorySystem, LinesAreSharedOutByBytes) {
  const MemorySystem memory(test::test_config(), tensors());
  Access what = access(1, 0, 2048 - 256, 1024);
  what.lines = 32;
  std::vector<Piece> pieces = pieces_of(memory, what);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[0].lines, 8);
  EXPECT_EQ(pieces[1].lines, 24);
  what.lines = 0;
  pieces = pieces_of(memory, what);
  EXPECT_EQ(pieces[0].lines, 2) << "as few as hold the bytes";
  EXPECT_EQ(pieces[1].lines, 6);
}

TEST(MemorySystem, BlocksAreSpreadEvenlyOverSlices) {
  const hw::HwConfig config = test::test_config();
  const MemorySystem memory(config, tensors());
  std::vector<int> blocks(static_cast<std::size_t>(config.l2.slices), 0);
  constexpr int kBlocks = 4096;
  for (std::int64_t block = 0; block < kBlocks; ++block) {
    ++blocks[pieces_of(memory, access(1, 0, block * kBlockBytes, 32))[0].slice];
  }
  const auto [least, most] = std::ranges::minmax(blocks);
  EXPECT_GT(least, kBlocks / config.l2.slices * 9 / 10);
  EXPECT_LT(most, kBlocks / config.l2.slices * 11 / 10);
}

/// Reads `bytes` from the front, 512 at a time; then `memory` is asked how much it holds.
void read_through(MemorySystem& memory, std::int64_t bytes, int sm) {
  std::vector<Piece> pieces;
  for (std::int64_t offset = 0; offset < bytes; offset += 512) {
    Access what = access(1, 0, offset, 512);
    what.time_cycles = offset;
    what.sm = static_cast<std::uint16_t>(sm);
    memory.split(what, pieces);
  }
  std::vector<Piece>* const asked = &pieces;
  memory.serve(std::span(&asked, 1), 0, 1);
}

// However the sets divide by the slices, all slices together hold what the L2 holds.
TEST(MemorySystem, SlicesTogetherHoldTheCapacity) {
  for (const int slices : {1, 3, 4, 7}) {
    hw::HwConfig config = test::test_config();
    config.l2.slices = slices;
    config.l2.partitions = 1;
    MemorySystem memory(config, tensors());
    memory.begin_launch(kClockMhz, false);
    read_through(memory, 16 * config.l2.capacity_bytes, 0);
    EXPECT_EQ(memory.used_bytes(), config.l2.capacity_bytes) << slices;
  }
}

TEST(MemorySystem, ColdLaunchesWriteBackWhatWasDirtyBefore) {
  hw::HwConfig config = test::test_config();
  config.l2.left_dirty_bytes = 64 << 10;
  MemorySystem memory(config, tensors());
  memory.begin_launch(kClockMhz, false);
  EXPECT_EQ(memory.used_bytes(), config.l2.left_dirty_bytes);
  read_through(memory, config.l2.capacity_bytes / 8, 0);
  EXPECT_EQ(memory.earlier_bytes(), 0U);
  read_through(memory, 16 * config.l2.capacity_bytes, 0);
  EXPECT_EQ(memory.earlier_bytes(), 64U << 10);
  EXPECT_EQ(memory.traffic()[1].hbm_write, 0U);
  // What a warm launch finds is the one before's.
  memory.begin_launch(kClockMhz, true);
  read_through(memory, 16 * config.l2.capacity_bytes, 0);
  EXPECT_EQ(memory.earlier_bytes(), 0U);
}

TEST(MemorySystem, LessThanASetForEachSliceIsHeldInSmallerSets) {
  hw::HwConfig config = test::test_config();
  config.l2.slices = 8;
  config.l2.partitions = 1;
  config.l2.ways = 16;
  config.l2.capacity_bytes = 24 * kBlockBytes;
  MemorySystem memory(config, tensors());
  memory.begin_launch(kClockMhz, false);
  read_through(memory, 64 * config.l2.capacity_bytes, 0);
  EXPECT_EQ(memory.used_bytes(), config.l2.capacity_bytes);
}

TEST(MemorySystem, AnswersDependOnNoOrderOfTheHost) {
  const auto answers = [](bool reverse, std::size_t parts) {
    MemorySystem memory(test::test_config(), tensors());
    memory.begin_launch(kClockMhz, false);
    std::vector<std::vector<Piece>> pieces(6);
    for (std::uint16_t sm = 0; sm < 6; ++sm) {
      for (int i = 0; i < 40; ++i) {
        Access what = access(1, 0, (i * 37 + sm * 11) % 64 * 1024, 512);
        what.time_cycles = i * 3;
        what.number = static_cast<std::uint32_t>(2 * i);
        what.sm = sm;
        what.kind = i % 4 == 0 ? AccessKind::write : AccessKind::read;
        memory.split(what, pieces[sm]);
      }
    }
    std::vector<std::vector<Piece>*> asked;
    for (std::vector<Piece>& of_sm : pieces) {
      asked.push_back(&of_sm);
    }
    for (std::size_t part = 0; part < parts; ++part) {
      memory.serve(asked, reverse ? parts - 1 - part : part, parts);
    }
    std::vector<std::int64_t> arrivals;
    for (const std::vector<Piece>& of_sm : pieces) {
      for (const Piece& piece : of_sm) {
        arrivals.push_back(piece.arrival_cycles);
      }
    }
    return arrivals;
  };
  const std::vector<std::int64_t> usual = answers(false, 1);
  EXPECT_EQ(answers(false, 3), usual);
  EXPECT_EQ(answers(true, 4), usual);
  EXPECT_EQ(answers(true, 50), usual) << "more parts than slices";
}

}  // namespace
}  // namespace warpscope::memory
