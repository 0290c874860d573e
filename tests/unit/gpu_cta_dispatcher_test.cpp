// Order, place and rate of CTAs.
#include "model/gpu/cta_dispatcher.hpp"

#include <gtest/gtest.h>

#include "model/fast/group_policy.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::gpu {
namespace {

using test::test_config;

trace::Launch grid(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
  trace::Launch launch;
  launch.grid = {x, y, z};
  return launch;
}

constexpr double kClockMhz = 1000;  ///< a cycle is a nanosecond

/// A dispatcher for SMs that are all simulated.
CtaDispatcher every_sm(const hw::HwConfig& config, const trace::Launch& launch, double clock_mhz, int slots) {
  return {config, launch, clock_mhz, slots, fast::group_sms(config.gpu.sm_count, config.gpu.sm_count)};
}

TEST(CtaDispatcher, GoesThroughTheGridXFastest) {
  hw::HwConfig config = test_config();
  config.gpu.sm_count = 64;
  const trace::Launch launch = grid(3, 2, 4);
  CtaDispatcher dispatcher = every_sm(config, launch, kClockMhz, 1);
  for (std::uint32_t z = 0; z < 4; ++z) {
    for (std::uint32_t y = 0; y < 2; ++y) {
      for (std::uint32_t x = 0; x < 3; ++x) {
        const auto next = dispatcher.next(0);
        ASSERT_TRUE(next.has_value());
        EXPECT_EQ(trace::block_of(launch, next->ctas.at(0)), (std::array<std::uint32_t, 3>{x, y, z}));
      }
    }
  }
  EXPECT_TRUE(dispatcher.done());
  EXPECT_EQ(dispatcher.dispatched(), 24U);
  EXPECT_FALSE(dispatcher.next(0).has_value());
}

TEST(CtaDispatcher, FirstWaveGoesBreadthFirst) {
  CtaDispatcher dispatcher = every_sm(test_config(), grid(100), kClockMhz, 2);
  std::vector<int> sms;
  while (const auto next = dispatcher.next(0)) {
    sms.push_back(next->group);
  }
  EXPECT_EQ(sms, (std::vector<int>{0, 1, 2, 0, 1, 2}));
  EXPECT_FALSE(dispatcher.done());
}

/// The SMs that get the CTAs of a grid in turn, of 16 SMs with two slots each.
std::vector<int> sms_of(std::uint32_t ctas) {
  hw::HwConfig config = test_config();
  config.gpu.sm_count = 16;
  CtaDispatcher dispatcher = every_sm(config, grid(ctas), kClockMhz, 2);
  std::vector<int> sms;
  while (const auto next = dispatcher.next(0)) {
    sms.push_back(next->group);
  }
  return sms;
}

/// SMs 0 to `count` - 1, and `more` behind them.
std::vector<int> first(int count, const std::vector<int>& more = {}) {
  std::vector<int> sms;
  for (int sm = 0; sm < count; ++sm) {
    sms.push_back(sm);
  }
  sms.insert(sms.end(), more.begin(), more.end());
  return sms;
}

TEST(CtaDispatcher, GridThatFitsFillsFourTpcsFirstAndTheOthersAlike) {
  EXPECT_EQ(sms_of(1), first(1));
  EXPECT_EQ(sms_of(4), first(4)) << "two for each of the first two TPCs";
  EXPECT_EQ(sms_of(10), first(8, {8, 12})) << "one for every second TPC behind them";
  EXPECT_EQ(sms_of(12), first(8, {8, 10, 12, 14})) << "one for each";
  EXPECT_EQ(sms_of(14), first(8, {8, 9, 10, 12, 13, 14})) << "two for every second";
  EXPECT_EQ(sms_of(19), first(16, {0, 1, 2})) << "the first ones again";
  EXPECT_EQ(sms_of(26), first(16, {0, 1, 2, 3, 4, 5, 6, 7, 8, 12}));
  EXPECT_EQ(sms_of(32), first(16, first(16)));
  EXPECT_EQ(sms_of(33), sms_of(32)) << "the last one waits for a slot";
}

TEST(CtaDispatcher, ReleasedSlotGetsTheNextCta) {
  CtaDispatcher dispatcher = every_sm(test_config(), grid(8), kClockMhz, 2);
  for (int i = 0; i < 6; ++i) {
    dispatcher.next(0);
  }
  dispatcher.release(1);
  const auto next = dispatcher.next(100);
  ASSERT_TRUE(next.has_value());
  EXPECT_EQ(next->group, 1);
  EXPECT_EQ(next->ctas, std::vector<std::uint64_t>{6});
  EXPECT_FALSE(dispatcher.next(100).has_value());
}

TEST(CtaDispatcher, SmWithMostRoomIsChosenLowestIndexAmongEquals) {
  CtaDispatcher dispatcher = every_sm(test_config(), grid(20), kClockMhz, 3);
  for (int i = 0; i < 9; ++i) {
    dispatcher.next(0);
  }
  dispatcher.release(2);
  dispatcher.release(0);
  dispatcher.release(0);
  dispatcher.release(1);
  // Free slots: 2, 1, 1.
  std::vector<int> sms;
  while (const auto next = dispatcher.next(0)) {
    sms.push_back(next->group);
  }
  EXPECT_EQ(sms, (std::vector<int>{0, 0, 1, 2}));
}

TEST(CtaDispatcher, FirstWaveComesAtTheBurstRateLaterOnesAtTheSustainedRate) {
  hw::HwConfig config = test_config();
  config.launch.burst_cta_per_clk = 0.5;
  config.launch.cta_per_ns = 0.1;
  CtaDispatcher dispatcher = every_sm(config, grid(20), kClockMhz, 2);
  for (int i = 1; i <= 6; ++i) {
    EXPECT_EQ(dispatcher.next(0)->start, 2 * i);
  }
  for (int i = 1; i <= 4; ++i) {
    dispatcher.release(0);
    EXPECT_EQ(dispatcher.next(0)->start, 12 + 10 * i);
  }
}

TEST(CtaDispatcher, SustainedRateIsPerTimeNotPerCycle) {
  hw::HwConfig config = test_config();
  config.launch.burst_cta_per_clk = 1000;
  config.launch.cta_per_ns = 0.1;
  CtaDispatcher dispatcher = every_sm(config, grid(5), 2 * kClockMhz, 1);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(dispatcher.next(0)->start, 0);
  }
  dispatcher.release(0);
  EXPECT_EQ(dispatcher.next(0)->start, 20);
}

TEST(CtaDispatcher, RatesAboveOnePerCycleKeepTheirFraction) {
  hw::HwConfig config = test_config();
  config.gpu.sm_count = 64;
  config.launch.burst_cta_per_clk = 2.5;
  CtaDispatcher dispatcher = every_sm(config, grid(64), kClockMhz, 1);
  sim::Cycles last = 0;
  while (const auto next = dispatcher.next(0)) {
    last = next->start;
  }
  EXPECT_EQ(last, 25) << "64 CTAs at 2.5 a cycle";
}

TEST(CtaDispatcher, DoesNotStartBeforeTheSlotIsReady) {
  CtaDispatcher dispatcher = every_sm(test_config(), grid(5), kClockMhz, 1);
  for (int i = 0; i < 3; ++i) {
    dispatcher.next(0);
  }
  dispatcher.release(2);
  EXPECT_EQ(dispatcher.next(777)->start, 777);
}

TEST(CtaDispatcher, CountsSmsWithWork) {
  CtaDispatcher dispatcher = every_sm(test_config(), grid(5), kClockMhz, 2);
  EXPECT_EQ(dispatcher.active_sms(), 0);
  for (const int expected : {1, 2, 3, 3, 3}) {
    dispatcher.next(0);
    EXPECT_EQ(dispatcher.active_sms(), expected);
  }
  dispatcher.release(0);
  EXPECT_EQ(dispatcher.active_sms(), 3);
  dispatcher.release(2);
  EXPECT_EQ(dispatcher.active_sms(), 2) << "the third SM had one CTA";
}

TEST(CtaDispatcher, SaysHowFarApartCtasStart) {
  hw::HwConfig config = test_config();
  config.launch.burst_cta_per_clk = 0.25;
  CtaDispatcher dispatcher(config, grid(100), kClockMhz, 2, fast::group_sms(10, 2));
  EXPECT_EQ(dispatcher.next(0)->apart_cycles, 4) << "the first wave";
  for (int group = 0; group < 3; ++group) {
    EXPECT_EQ(dispatcher.next(0)->apart_cycles, 4);
  }
  dispatcher.release(0);
  EXPECT_EQ(dispatcher.next(2000)->apart_cycles, 100) << "20 CTAs have been enough for 2000 cycles";
  dispatcher.skip(50);
  dispatcher.release(1);
  EXPECT_EQ(dispatcher.next(5000)->apart_cycles, 200) << "25 for 5000, whatever was skipped";
}

}  // namespace
}  // namespace warpscope::gpu
