// When grids of known CTAs end.
#include "model/fast/cta_schedule.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace warpscope::fast {
namespace {

/// Alone a CTA executes two instructions a cycle, beside another one and a half.
CtaPace two_slots() {
  CtaPace pace(2);
  pace.observe(0, 1, true, 100, 200);
  pace.observe(0, 2, true, 100, 300);
  return pace;
}

TEST(CtaPace, IsPerCta) {
  const CtaPace pace = two_slots();
  EXPECT_DOUBLE_EQ(pace.rate(1), 2);
  EXPECT_DOUBLE_EQ(pace.rate(2), 1.5);
}

TEST(CtaPace, IsNoLessAloneThanInCompany) {
  CtaPace pace(3);
  pace.observe(0, 1, true, 100, 10);
  pace.observe(0, 2, true, 100, 300);
  EXPECT_DOUBLE_EQ(pace.rate(1), 1.5);
  EXPECT_DOUBLE_EQ(pace.rate(3), 1.5) << "never seen: as with fewer";
}

TEST(CtaPace, WhatIsNotLoopIsOverhead) {
  CtaPace pace(1);
  pace.observe(0, 1, true, 100, 200);
  pace.observe(0, 1, false, 70, 40);
  EXPECT_DOUBLE_EQ(pace.rate(1), 2);
  // 240 instructions take 120 of the 170 cycles.
  EXPECT_DOUBLE_EQ(pace.overhead_cycles(5), 10);
}

TEST(CtaPace, OverheadIsThatOfAllResidents) {
  CtaPace pace(2);
  pace.observe(0, 2, true, 100, 300);
  pace.observe(0, 2, false, 70, 60);
  // 360 instructions take 240 of the 340 cycles of both.
  EXPECT_DOUBLE_EQ(pace.overhead_cycles(5), 20);
}

TEST(CtaPace, IsThatOfAllTheyDoWhereLoopsAreNoFaster) {
  CtaPace pace(1);
  pace.observe(0, 1, true, 100, 200);
  pace.observe(0, 1, false, 10, 100);
  EXPECT_DOUBLE_EQ(pace.rate(1), 300.0 / 110);
  EXPECT_NEAR(pace.overhead_cycles(1), 0, 1e-9);
}

TEST(CtaPace, SpeedsOfSmsSpread) {
  CtaPace pace(2, 3);
  pace.observe(0, 2, true, 1000, 1000);
  pace.observe(1, 2, true, 1000, 1100);
  pace.observe(2, 2, true, 1000, 1200);
  // 1000, 1100 and 1200 where 1100 are expected of each.
  EXPECT_NEAR(pace.spread_of_speeds(), 100.0 / 1100, 1e-12);
  pace.observe(0, 1, true, 500, 300);
  pace.observe(2, 1, true, 500, 300);
  EXPECT_NEAR(pace.spread_of_speeds(), 0.0, 0.09) << "alone on its SM a CTA is compared to those alone";
}

TEST(CtaPace, SpeedsDoNotSpreadWhereNoneDiffer) {
  CtaPace pace(1, 2);
  EXPECT_DOUBLE_EQ(pace.spread_of_speeds(), 0) << "nothing";
  pace.observe(0, 1, true, 1000, 1000);
  EXPECT_DOUBLE_EQ(pace.spread_of_speeds(), 0) << "one SM";
  pace.observe(1, 1, true, 1000, 1000);
  EXPECT_DOUBLE_EQ(pace.spread_of_speeds(), 0) << "two that are equal";
}

TEST(CtaPace, IsOneInstructionACycleWhereNothingWasSeen) {
  EXPECT_DOUBLE_EQ(CtaPace(2).rate(1), 1);
}

/// CTAs of this work on like SMs, which they share evenly.
double evenly(const CtaPace& pace, const std::vector<double>& work, std::size_t sms, double overhead_cycles) {
  return makespan(pace, {.work = work,
                         .shares = std::vector<double>(work.size(), 1),
                         .speeds = std::vector<double>(sms, 1),
                         .overhead_cycles = overhead_cycles});
}

TEST(Makespan, OneCta) {
  EXPECT_DOUBLE_EQ(evenly(two_slots(), {600}, 3, 0), 300);
}

TEST(Makespan, FillsSmsBeforeSlots) {
  EXPECT_DOUBLE_EQ(evenly(two_slots(), {600, 600, 600}, 3, 0), 300);
  EXPECT_DOUBLE_EQ(evenly(two_slots(), {600, 600, 600, 600}, 3, 0), 400);
}

TEST(Makespan, TheLongerOneGoesOnAlone) {
  // 200 cycles together for 300 each, then 300 at two a cycle.
  EXPECT_DOUBLE_EQ(evenly(two_slots(), {300, 600}, 1, 0), 350);
}

TEST(Makespan, FreeSlotTakesTheNextCta) {
  // After 200 cycles the third begins; after 400 the second ends; the third has 300 left.
  EXPECT_DOUBLE_EQ(evenly(two_slots(), {300, 600, 600}, 1, 0), 550);
}

TEST(Makespan, SlotsThatGetFreeTogetherAreFilledBreadthFirst) {
  // Two rounds on two SMs; of the third round each SM has one CTA, alone.
  const std::vector<double> work(4 + 4 + 2, 600);
  EXPECT_DOUBLE_EQ(evenly(two_slots(), work, 2, 0), 400 + 400 + 300);
}

TEST(Makespan, RoundingDoesNotKeepEndsApart) {
  // The first SM gets free a little earlier, but both are filled with one CTA, which runs alone.
  const std::vector<double> work = {600, 600.0001, 600, 600.0001, 600, 600};
  EXPECT_NEAR(evenly(two_slots(), work, 2, 0), 400 + 300, 0.01);
}

TEST(Makespan, OverheadCountsForEachCta) {
  CtaPace pace(1);
  pace.observe(0, 1, true, 100, 200);
  EXPECT_DOUBLE_EQ(evenly(pace, {200, 200}, 1, 30), 260);
}

TEST(Makespan, CtasDivideTheirSmByShares) {
  // At three instructions a cycle one has two of them until it ends, then the other one goes on alone.
  const CtaGrid grid{.work = {600, 600}, .shares = {2, 1}, .speeds = {1}, .overhead_cycles = 0};
  EXPECT_DOUBLE_EQ(makespan(two_slots(), grid), 300 + 150);
}

TEST(Makespan, SharesChangeNothingOfWhatAnSmDoes) {
  const CtaGrid grid{
      .work = {600, 600, 600, 600}, .shares = {3, 1, 1, 2}, .speeds = {1}, .overhead_cycles = 0};
  const double end = makespan(two_slots(), grid);
  // 2400 instructions at three a cycle, but for those at two a cycle of the last one alone.
  EXPECT_GE(end, 800);
  EXPECT_LE(end, 800 + 100);
}

TEST(Makespan, AFastSmTakesMoreCtas) {
  CtaPace pace(1);
  pace.observe(0, 1, true, 100, 100);
  const CtaGrid grid{.work = {100, 100, 100}, .shares = {1, 1, 1}, .speeds = {1, 2}, .overhead_cycles = 0};
  EXPECT_DOUBLE_EQ(makespan(pace, grid), 100);
}

TEST(CtaScatter, FasterCtasTakeTheLargerShare) {
  CtaScatter scatter;
  // Two SMs with two CTAs each, three waves.
  const std::vector<std::int64_t> times = {150, 200, 300, 200, 100, 100, 300, 300, 50, 50, 70, 70};
  for (std::size_t cta = times.size(); cta-- > 0;) {
    scatter.observe(cta, cta / 2 % 2, 0, times[cta]);
  }
  const std::vector<double> shares = scatter.shares(4);
  ASSERT_EQ(shares.size(), 8U) << "without the last wave";
  const std::vector<double> expected = {175.0 / 150, 175.0 / 200, 250.0 / 300, 250.0 / 200, 1, 1, 1, 1};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    EXPECT_NEAR(shares[i], expected[i], 1e-12) << i;
  }
}

TEST(CtaScatter, ComparesCtasOfSeveralClassesByTheirMeans) {
  CtaScatter scatter;
  // Of each class one CTA on each of four SMs; on the first one both take half as long again.
  for (std::size_t cta = 0; cta < 16; ++cta) {
    const std::int64_t mean = cta % 2 == 0 ? 100 : 900;
    scatter.observe(cta, cta / 2 % 4, cta % 2, cta / 2 % 4 == 0 ? mean * 3 / 2 : mean);
  }
  for (const double share : scatter.shares(8)) {
    EXPECT_NEAR(share, 1, 1e-12);
  }
}

TEST(CtaScatter, IsUnknownWhereFewRunAtATime) {
  CtaScatter scatter;
  for (std::size_t cta = 0; cta < 8; ++cta) {
    scatter.observe(cta, cta % 2, cta % 4, cta % 2 == 0 ? 100 : 900);
  }
  EXPECT_EQ(scatter.shares(4), std::vector<double>{1}) << "one of each class";
  EXPECT_EQ(CtaScatter().shares(4), std::vector<double>{1}) << "nothing was seen";
}

TEST(Makespans, DoNotDifferWhereNothingScatters) {
  const Makespans only = makespans(two_slots(), {300, 600, 600}, 1, 0, {1});
  EXPECT_NEAR(only.mean, 550, 1e-6);
  EXPECT_NEAR(only.deviation, 0, 1e-6);
}

TEST(Makespans, SpreadWithTheSpeedsOfSms) {
  CtaPace pace(1, 3);
  pace.observe(0, 1, true, 1000, 900);
  pace.observe(1, 1, true, 1000, 1000);
  pace.observe(2, 1, true, 1000, 1100);
  const Makespans some = makespans(pace, {1000}, 1, 0, {1});
  EXPECT_NEAR(some.mean, 1000, 60);
  EXPECT_NEAR(some.deviation, 100, 25);
  // 16000 CTAs make one schedule, which tells nothing of others.
  EXPECT_EQ(makespans(pace, std::vector<std::uint64_t>(16'000, 10), 1, 0, {1}).deviation, 0);
}

TEST(Makespans, LastOfManySmsEndsLater) {
  CtaPace pace(1, 3);
  pace.observe(0, 1, true, 1000, 900);
  pace.observe(1, 1, true, 1000, 1000);
  pace.observe(2, 1, true, 1000, 1100);
  const auto rounds = [&](std::size_t sms) {
    return makespans(pace, std::vector<std::uint64_t>(3 * sms, 1000), static_cast<int>(sms), 0, {1}).mean;
  };
  EXPECT_NEAR(rounds(1), 3000, 200);
  EXPECT_GT(rounds(100), rounds(1) + 100);
  EXPECT_LE(rounds(100), 3000 / 0.8267) << "three on the slowest";
}

}  // namespace
}  // namespace warpscope::fast
