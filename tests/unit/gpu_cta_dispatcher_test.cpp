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

/// The SMs that get the CTAs of a grid in turn, of eight SMs with two slots each.
std::vector<int> sms_of(std::uint32_t ctas) {
  hw::HwConfig config = test_config();
  config.gpu.sm_count = 8;
  CtaDispatcher dispatcher = every_sm(config, grid(ctas), kClockMhz, 2);
  std::vector<int> sms;
  while (const auto next = dispatcher.next(0)) {
    sms.push_back(next->group);
  }
  return sms;
}

TEST(CtaDispatcher, GridThatFitsGoesToAllTpcsAlike) {
  EXPECT_EQ(sms_of(4), (std::vector<int>{0, 2, 4, 6})) << "one for each TPC";
  EXPECT_EQ(sms_of(1), (std::vector<int>{0}));
  EXPECT_EQ(sms_of(6), (std::vector<int>{0, 1, 2, 4, 5, 6})) << "two for every second TPC";
  EXPECT_EQ(sms_of(13), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 4, 6}))
      << "four for the first TPC";
  EXPECT_EQ(sms_of(16), (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(sms_of(17), sms_of(16)) << "the last one waits for a slot";
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
