// A unit that serves one request after the other.
#include "model/memory/server.hpp"

#include <gtest/gtest.h>

namespace warpscope::memory {
namespace {

/// Told in one period, this comes as `service` in that one.
constexpr std::int64_t comes(std::int64_t service) {
  return kPeriodsApart * service;
}

TEST(Server, TakesRequestsInTheirOrder) {
  Server server;
  EXPECT_EQ(server.serve(100, 10), 100);
  EXPECT_EQ(server.serve(100, 10), 110) << "behind the first";
  EXPECT_EQ(server.serve(115, 10), 120);
  EXPECT_EQ(server.serve(131, 10), 131) << "the unit was free from 130 on";
}

TEST(Server, WhatIsWaitedForTakesItsTimeFromTheBackground) {
  Server server;
  const std::int64_t period = kBackgroundCycles * kQueueUnits;
  server.add_background(0, comes(period), kQueueUnits);
  server.serve(kQueueUnits, period / 2);
  EXPECT_GE(server.serve(period, 10), period + period / 2 - kQueueUnits) << "half a period is left";
}

TEST(Server, LoadOfOthersMakesRequestsWaitMoreTheMoreThereIs) {
  const auto wait = [](std::int64_t background) {
    Server server;
    server.add_background(0, comes(background), 4 * kQueueUnits);
    return server.serve(kQueueUnits, 4 * kQueueUnits) - kQueueUnits;
  };
  EXPECT_EQ(wait(0), 0);
  const std::int64_t some = wait(kBackgroundCycles / 4 * kQueueUnits);
  const std::int64_t more = wait(kBackgroundCycles / 2 * kQueueUnits);
  const std::int64_t most = wait(kBackgroundCycles * kQueueUnits);
  // By Pollaczek and Khinchine: a third of half a service, the whole of it, and many at full load.
  EXPECT_NEAR(static_cast<double>(some), 2 * kQueueUnits / 3.0, 2);
  EXPECT_NEAR(static_cast<double>(more), 2 * kQueueUnits, 2);
  EXPECT_GT(most, 8 * kQueueUnits);
}

TEST(Server, LoadOfOthersBeyondWhatItCanDoStaysInItsQueue) {
  Server server;
  server.add_background(0, comes(3 * kBackgroundCycles * kQueueUnits), kQueueUnits);
  const std::int64_t after = kBackgroundCycles * kQueueUnits;
  EXPECT_EQ(server.serve(after, kQueueUnits), 3 * after) << "two thirds are left";
}

TEST(Server, LoadOfOthersComesOverThePeriodsInWhichTheyAre) {
  constexpr std::int64_t kPeriod = kBackgroundCycles * kQueueUnits;
  constexpr std::int64_t kPiece = 64 * kQueueUnits;
  Server server;
  double left = comes(kPeriod / 2);
  for (int i = 0; i < 3; ++i) {
    server.add_background(i * kPeriod, i == 0 ? comes(kPeriod / 2) : 0, kPiece);
    const std::int64_t start = i * kPeriod + kQueueUnits;
    const double share = left / kPeriodsApart / kPeriod;
    EXPECT_NEAR(static_cast<double>(server.serve(start, kPiece) - start), share / (1 - share) * kPiece / 2,
                kPiece / 256.0);
    left -= left / kPeriodsApart;
  }
}

TEST(Server, LoadOfOthersWearsOff) {
  Server server;
  std::int64_t now = 0;
  for (int i = 0; i < 20 * kPeriodsApart; ++i) {
    server.add_background(now, i == 0 ? comes(8192 * kQueueUnits) : 0, 4 * kQueueUnits);
    now += kBackgroundCycles * kQueueUnits;
  }
  EXPECT_EQ(server.serve(now, 4 * kQueueUnits), now);
}

}  // namespace
}  // namespace warpscope::memory
