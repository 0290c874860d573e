// One slice of the L2: when a piece is answered, and what moves.
#include "model/memory/l2_slice.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/memory/lookups.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::memory {
namespace {

constexpr double kClockMhz = 1000;

class L2SliceTest : public testing::Test {
 protected:
  L2SliceTest() { begin(false); }
  void begin(bool keep) {
    slice_.begin_launch(timing_, keep, 0, 1);
    lookups_ = Lookups(1);
  }

  static Piece piece(AccessKind kind, std::int64_t block, std::int64_t time, int sm = 0) {
    Piece piece;
    piece.time_cycles = time;
    piece.key = block_key(0, block);
    piece.sm = static_cast<std::uint16_t>(sm);
    piece.partitions = 1;
    piece.bytes = 512;
    piece.sectors = 16;
    piece.mask = 0xffff;
    piece.lines = 4;
    piece.kind = kind;
    return piece;
  }
  /// Cycles from when the piece leaves the SM to its answer.
  std::int64_t serve(Piece piece) {
    slice_.serve(piece, lookups_.serve(piece.time_cycles * kQueueUnits, service_units(timing_, piece), 1));
    return piece.arrival_cycles - piece.time_cycles;
  }
  std::int64_t read(std::int64_t block, std::int64_t time) {
    return serve(piece(AccessKind::read, block, time));
  }
  const metrics::MovedBytes& moved() const { return slice_.traffic()[0]; }

  hw::HwConfig config_ = test::test_config();
  SliceTiming timing_ = slice_timing(config_, kClockMhz);
  Lookups lookups_;
  L2Slice slice_{{.capacity_bytes = 1 << 18, .ways = 16, .dirty_bytes = 1 << 14, .partitions = 1}, 1};
};

TEST_F(L2SliceTest, HitTakesTheLatencyOfAHit) {
  read(3, 0);
  EXPECT_EQ(read(3, 10'000), config_.l2.hit_latency_cycles);
  EXPECT_EQ(moved().hbm_read, 512U);
  EXPECT_EQ(moved().l2_read, 1024U);
  EXPECT_EQ(moved().l2_read_hit, 512U);
}

// HBM's latency, its transfer at 13.5 bytes a cycle, and a wait for the page between none and many times the
// mean.
TEST_F(L2SliceTest, MissWaitsForHbm) {
  const auto least =
      static_cast<std::int64_t>(config_.l2.hit_latency_cycles + config_.hbm.latency_ns + 512 / 13.5);
  double sum = 0;
  constexpr int kMisses = 100;
  for (int i = 0; i < kMisses; ++i) {
    const std::int64_t cycles = read(i, 10'000 * i);
    EXPECT_GE(cycles, least);
    sum += static_cast<double>(cycles - least);
  }
  EXPECT_NEAR(sum / kMisses, config_.hbm.page_wait_ns, 0.4 * config_.hbm.page_wait_ns);
}

// Whichever SM adds, the block is in one partition; a write passes through that of its SM.
TEST_F(L2SliceTest, WhatIsAddedStaysAtItsHome) {
  const auto used_bytes = [&](AccessKind kind) {
    L2Slice slice({.capacity_bytes = 1 << 18, .ways = 16, .dirty_bytes = 1 << 14, .partitions = 2}, 1);
    slice.begin_launch(timing_, false, 0, 1);
    for (const std::uint16_t partition : {std::uint16_t{1}, std::uint16_t{2}}) {
      Piece asked = piece(kind, 3, 0);
      asked.partitions = partition;
      slice.serve(asked, 0);
    }
    return slice.used_bytes();
  };
  EXPECT_EQ(used_bytes(AccessKind::reduce), kBlockBytes);
  EXPECT_EQ(used_bytes(AccessKind::write), 2 * kBlockBytes);
}

TEST_F(L2SliceTest, LookupsQueueUp) {
  for (std::int64_t block = 0; block < 8; ++block) {
    read(block, 0);
  }
  // 512 bytes at 192 / 4 a cycle, or four lines at 3 / 4 a cycle.
  constexpr double kService = 512 / 48.0;
  for (int i = 0; i < 8; ++i) {
    EXPECT_NEAR(static_cast<double>(read(i, 100'000) - config_.l2.hit_latency_cycles), i * kService, 1.01);
  }
}

TEST_F(L2SliceTest, DataThatAnotherSmAskedForComesWhenItComesForThatOne) {
  const std::int64_t first = read(5, 1000);
  EXPECT_EQ(1040 + serve(piece(AccessKind::read, 5, 1040, 1)), 1000 + first);
  EXPECT_EQ(moved().hbm_read, 512U);
}

TEST_F(L2SliceTest, WritesAreAcceptedAtOnceAndReadBackFromTheL2) {
  EXPECT_EQ(serve(piece(AccessKind::write, 9, 0)), config_.l2.hit_latency_cycles);
  EXPECT_EQ(read(9, 5000), config_.l2.hit_latency_cycles);
  EXPECT_EQ(moved().hbm_read, 0U);
  EXPECT_EQ(moved().hbm_write, 0U);
  EXPECT_EQ(moved().l2_write, 512U);
}

TEST_F(L2SliceTest, WritesBackWhatIsBeyondTheDirtyLimit) {
  constexpr std::int64_t kWritten = 100;
  for (std::int64_t block = 0; block < kWritten; ++block) {
    serve(piece(AccessKind::write, block, 1000 * block));
  }
  EXPECT_EQ(moved().l2_write, kWritten * 512U);
  // Of each of the eight sets 2 KB may be dirty, which is four blocks of 512 bytes written.
  EXPECT_NEAR(static_cast<double>(moved().hbm_write), static_cast<double>(kWritten * 512 - (1 << 14)), 512);
}

// What has to be written back before a write has room keeps it waiting: the rate is that of HBM.
TEST_F(L2SliceTest, WritesWaitWhereTheChannelIsBehind) {
  std::int64_t last = 0;
  constexpr std::int64_t kWrites = 400;
  for (std::int64_t block = 0; block < kWrites; ++block) {
    last = serve(piece(AccessKind::write, block, 0));
  }
  const double cycles = static_cast<double>(kWrites * 512 - (1 << 14)) / (15 * 0.8);
  EXPECT_GT(static_cast<double>(last), 0.9 * cycles);
}

TEST_F(L2SliceTest, ReductionsTakeTheirRateOfLanes) {
  // 128 lanes at 40 / 4 a cycle take longer than their bytes.
  EXPECT_EQ(timing_.units_per_lane, std::llround(kQueueUnits * 4 / 425.0));
  config_.l2.reduce_lanes_per_clk = 40;
  timing_ = slice_timing(config_, kClockMhz);
  begin(false);
  std::int64_t last = 0;
  for (int i = 0; i < 50; ++i) {
    last = serve(piece(AccessKind::reduce, 1, 0));
  }
  EXPECT_NEAR(static_cast<double>(last - config_.l2.hit_latency_cycles),
              static_cast<double>(49 * 128 * timing_.units_per_lane) / kQueueUnits, 1);
}

TEST_F(L2SliceTest, ReductionsWaitForHbmSoManySectorsAtATime) {
  constexpr int kSectors = 16;  // of a piece
  config_.l2.reduce_waiting_sectors = kSectors * config_.l2.slices;
  config_.hbm.page_wait_ns = 0;
  timing_ = slice_timing(config_, kClockMhz);
  begin(false);
  const std::int64_t first = serve(piece(AccessKind::reduce, 1, 0));
  const std::int64_t of_hbm = first - config_.l2.hit_latency_cycles;
  EXPECT_GE(serve(piece(AccessKind::reduce, 2, 0)), first + of_hbm);
  EXPECT_GE(serve(piece(AccessKind::reduce, 3, 0)), first + 2 * of_hbm);
  EXPECT_LT(read(4, 0), first + of_hbm) << "others pass by";
  // What lies in the L2 needs no place, and later ones find all of them free.
  EXPECT_EQ(serve(piece(AccessKind::reduce, 1, 10'000)), config_.l2.hit_latency_cycles);
  EXPECT_EQ(serve(piece(AccessKind::reduce, 5, 20'000)), first);
}

TEST_F(L2SliceTest, ReductionsOfOthersTakePlacesToo) {
  const auto touched = [&](AccessKind kind, std::int64_t block) {
    const Piece other = piece(kind, block, 0);
    return slice_.touch(other, slice_.locate(other), 0);
  };
  const TakenIn brought = touched(AccessKind::reduce, 1);
  EXPECT_EQ(brought.bytes, 512);
  const std::int64_t latency = timing_.hbm_units + timing_.mean_page_wait_units;
  EXPECT_EQ(brought.reduced_units, 16 * latency / timing_.reduced_sectors)
      << "the chance moment at which they cross the bus is no wait";
  EXPECT_EQ(touched(AccessKind::reduce, 1).reduced_units, 0) << "it is there by now";
  EXPECT_EQ(touched(AccessKind::read, 2).reduced_units, 0);
}

TEST_F(L2SliceTest, KeepsItsContentsIfItIsTold) {
  read(1, 0);
  begin(true);
  EXPECT_EQ(moved().hbm_read, 0U) << "counts anew";
  EXPECT_EQ(read(1, 0), config_.l2.hit_latency_cycles);
  begin(false);
  EXPECT_GT(read(1, 0), config_.l2.hit_latency_cycles);
}

TEST_F(L2SliceTest, LinesComeWholeThoughHalfOfThemIsAskedFor) {
  Piece halves = piece(AccessKind::read, 4, 0);
  halves.sectors = 8;
  halves.bytes = 256;
  EXPECT_GT(serve(halves), config_.l2.hit_latency_cycles);
  EXPECT_EQ(moved().hbm_read, 512U);
  EXPECT_EQ(moved().l2_read, 256U);
  EXPECT_EQ(moved().l2_read_hit, 0U);
  EXPECT_EQ(read(4, 50'000), config_.l2.hit_latency_cycles);
}

TEST_F(L2SliceTest, NobodyWaitsForWhatIsReadForOthers) {
  const Piece touched = piece(AccessKind::read, 2, 0);
  slice_.touch(touched, slice_.locate(touched), 0);
  EXPECT_EQ(moved().hbm_read, 512U);
  EXPECT_EQ(read(2, 50'000), config_.l2.hit_latency_cycles);
}

}  // namespace
}  // namespace warpscope::memory
