// A channel of HBM: its bus moves no more than its peak, and writes make reads wait.
#include "model/memory/hbm_channel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "model/memory/server.hpp"

namespace warpscope::memory {
namespace {

constexpr ChannelTiming kTiming{.read_units_per_byte = 40,
                                .write_units_per_byte = 48,
                                .turnaround_units = 4096,
                                .write_batch_bytes = 8192};

struct Span {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Reads of 64 to 2048 bytes at random times, `writes_per_read` writes of 2048 bytes beside each.
std::vector<Span> reads_on_bus(double writes_per_read, std::int64_t mean_gap, std::int64_t& waited) {
  HbmChannel channel;
  channel.begin_launch(kTiming, kTiming.write_batch_bytes);
  std::mt19937 random(7);
  std::vector<Span> spans;
  std::int64_t now = 0;
  double writes = 0;
  for (int i = 0; i < 4000; ++i) {
    now += static_cast<std::int64_t>(random()) % (2 * mean_gap);
    const std::int64_t bytes = 64 * (1 + static_cast<std::int64_t>(random()) % 32);
    const std::int64_t end = channel.read(now, bytes);
    spans.push_back({end - bytes * kTiming.read_units_per_byte, end});
    waited += spans.back().begin - now;
    for (writes += writes_per_read; writes >= 1; --writes) {
      channel.write(now, 2048);
    }
  }
  return spans;
}

TEST(HbmChannel, MovesOneReadAfterTheOther) {
  std::int64_t waited = 0;
  std::vector<Span> spans = reads_on_bus(0.5, 60000, waited);
  std::ranges::sort(spans, {}, &Span::begin);
  for (std::size_t i = 1; i < spans.size(); ++i) {
    EXPECT_GE(spans[i].begin, spans[i - 1].end);
  }
}

TEST(HbmChannel, SaturatedItTakesAsLongAsAllBytesAndTurnarounds) {
  HbmChannel channel;
  channel.begin_launch(kTiming, kTiming.write_batch_bytes);
  std::int64_t end = 0;
  for (int i = 0; i < 1000; ++i) {
    end = channel.read(0, 2048);
    channel.write(0, 2048);
  }
  // The last batch of writes may still be waiting.
  const std::int64_t batch = 8192 * kTiming.write_units_per_byte + kTiming.turnaround_units;
  const std::int64_t all = 1000 * 2048 * kTiming.read_units_per_byte + 250 * batch;
  EXPECT_LE(end, all);
  EXPECT_GE(end, all - 2 * batch);
}

TEST(HbmChannel, WritesMakeReadsWaitAndReadsAloneHardlyDo) {
  std::int64_t alone = 0;
  std::int64_t beside_writes = 0;
  reads_on_bus(0, 160000, alone);
  reads_on_bus(0.5, 160000, beside_writes);
  EXPECT_GT(beside_writes, 3 * alone);
}

TEST(HbmChannel, WhatOthersReadTakesTheBusAtChanceMomentsOfFourPeriods) {
  HbmChannel channel;
  channel.begin_launch(kTiming, kTiming.write_batch_bytes);
  constexpr std::int64_t kPeriod = kBackgroundCycles * kQueueUnits;
  // Half of what the bus can do in four periods.
  const std::int64_t reads = 2 * kPeriod / (2048 * kTiming.read_units_per_byte);
  for (int i = 0; i < reads; ++i) {
    EXPECT_GT(channel.read_in_background(0, 2048), 0);
  }
  EXPECT_LE(channel.read(kPeriod / 16, 64), kPeriod / 4) << "not all at once";
  HbmChannel full;
  full.begin_launch(kTiming, kTiming.write_batch_bytes);
  for (int i = 0; i < 8 * reads; ++i) {
    full.read_in_background(0, 2048);
  }
  // The work of four times as long as it comes has nearly all to be done yet.
  EXPECT_GT(full.read(4 * kPeriod, 64), 14 * kPeriod);
}

TEST(HbmChannel, TheFirstBatchOfWritesMayBeShorter) {
  HbmChannel channel;
  channel.begin_launch(kTiming, 2048);
  channel.write(0, 2048);
  // Nothing was read before it: the bus need not turn.
  EXPECT_EQ(channel.read(10, 64), 2048 * kTiming.write_units_per_byte + 64 * kTiming.read_units_per_byte);
}

}  // namespace
}  // namespace warpscope::memory
