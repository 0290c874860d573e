// When grids of known CTAs end.
#include "model/gpu/cta_schedule.hpp"

#include <gtest/gtest.h>

namespace warpscope::gpu {
namespace {

/// Alone a CTA executes two instructions a cycle, beside another one and a half.
CtaPace two_slots() {
  CtaPace pace(2);
  pace.observe(1, true, 100, 200);
  pace.observe(2, true, 100, 300);
  return pace;
}

TEST(CtaPace, IsPerCta) {
  const CtaPace pace = two_slots();
  EXPECT_DOUBLE_EQ(pace.rate(1), 2);
  EXPECT_DOUBLE_EQ(pace.rate(2), 1.5);
}

TEST(CtaPace, IsNoLessAloneThanInCompany) {
  CtaPace pace(3);
  pace.observe(1, true, 100, 10);
  pace.observe(2, true, 100, 300);
  EXPECT_DOUBLE_EQ(pace.rate(1), 1.5);
  EXPECT_DOUBLE_EQ(pace.rate(3), 1.5) << "never seen: as with fewer";
}

TEST(CtaPace, WhatIsNotLoopIsOverhead) {
  CtaPace pace(1);
  pace.observe(1, true, 100, 200);
  pace.observe(1, false, 70, 40);
  EXPECT_DOUBLE_EQ(pace.rate(1), 2);
  // 240 instructions take 120 of the 170 cycles.
  EXPECT_DOUBLE_EQ(pace.overhead_cycles(5), 10);
}

TEST(CtaPace, OverheadIsThatOfAllResidents) {
  CtaPace pace(2);
  pace.observe(2, true, 100, 300);
  pace.observe(2, false, 70, 60);
  // 360 instructions take 240 of the 340 cycles of both.
  EXPECT_DOUBLE_EQ(pace.overhead_cycles(5), 20);
}

TEST(CtaPace, OverheadIsNeverNegative) {
  CtaPace pace(1);
  pace.observe(1, true, 100, 200);
  pace.observe(1, false, 10, 100);
  EXPECT_DOUBLE_EQ(pace.overhead_cycles(1), 0);
}

TEST(CtaPace, IsOneInstructionACycleWhereNothingWasSeen) {
  EXPECT_DOUBLE_EQ(CtaPace(2).rate(1), 1);
}

TEST(Makespan, OneCta) {
  EXPECT_DOUBLE_EQ(makespan(two_slots(), {600}, 3, 0), 300);
}

TEST(Makespan, FillsSmsBeforeSlots) {
  EXPECT_DOUBLE_EQ(makespan(two_slots(), {600, 600, 600}, 3, 0), 300);
  EXPECT_DOUBLE_EQ(makespan(two_slots(), {600, 600, 600, 600}, 3, 0), 400);
}

TEST(Makespan, TheLongerOneGoesOnAlone) {
  // 200 cycles together for 300 each, then 300 at two a cycle.
  EXPECT_DOUBLE_EQ(makespan(two_slots(), {300, 600}, 1, 0), 350);
}

TEST(Makespan, FreeSlotTakesTheNextCta) {
  // After 200 cycles the third begins; after 400 the second ends; the third has 300 left.
  EXPECT_DOUBLE_EQ(makespan(two_slots(), {300, 600, 600}, 1, 0), 550);
}

TEST(Makespan, SlotsThatGetFreeTogetherAreFilledBreadthFirst) {
  // Two rounds on two SMs; of the third round each SM has one CTA, alone.
  const std::vector<double> work(4 + 4 + 2, 600);
  EXPECT_DOUBLE_EQ(makespan(two_slots(), work, 2, 0), 400 + 400 + 300);
}

TEST(Makespan, RoundingDoesNotKeepEndsApart) {
  // The first SM gets free a little earlier, but both are filled with one CTA, which runs alone.
  const std::vector<double> work = {600, 600.0001, 600, 600.0001, 600, 600};
  EXPECT_NEAR(makespan(two_slots(), work, 2, 0), 400 + 300, 0.01);
}

TEST(Makespan, OverheadCountsForEachCta) {
  CtaPace pace(1);
  pace.observe(1, true, 100, 200);
  EXPECT_DOUBLE_EQ(makespan(pace, {200, 200}, 1, 30), 260);
}

TEST(CtaScatter, IsRelativeToTheMeanOfTheWave) {
  CtaScatter scatter;
  const std::vector<std::int64_t> times = {190, 210, 200, 200, 90, 100, 100, 110, 50, 50, 70, 70};
  for (std::size_t cta = times.size(); cta-- > 0;) {
    scatter.observe(cta, 0, times[cta]);
  }
  EXPECT_EQ(scatter.factors(4), (std::vector<double>{0.95, 1.05, 1, 1, 0.9, 1, 1, 1.1}))
      << "without the last wave";
}

TEST(CtaScatter, IsUnknownWhereFewRunAtATime) {
  CtaScatter scatter;
  for (std::size_t cta = 0; cta < 8; ++cta) {
    scatter.observe(cta, cta % 2, cta % 2 == 0 ? 100 : 900);
  }
  EXPECT_EQ(scatter.factors(4), std::vector<double>{1}) << "two of each class";
  EXPECT_EQ(CtaScatter().factors(4), std::vector<double>{1}) << "nothing was seen";
}

TEST(Makespans, WithoutScatterAreOne) {
  const Makespans only = makespans(two_slots(), {300, 600, 600}, 1, 0, {1});
  EXPECT_DOUBLE_EQ(only.mean, 550);
  EXPECT_DOUBLE_EQ(only.least, 550);
  EXPECT_DOUBLE_EQ(only.most, 550);
}

TEST(Makespans, FewCtasTakeManyFactors) {
  CtaPace pace(1);
  pace.observe(1, true, 100, 100);
  const Makespans some = makespans(pace, {1000}, 1, 0, {0.2, 0.6, 1, 1.4, 1.8});
  EXPECT_NEAR(some.mean, 1000, 60);
  EXPECT_DOUBLE_EQ(some.least, 200);
  EXPECT_DOUBLE_EQ(some.most, 1800);
}

TEST(Makespans, LastOfManySmsEndsLater) {
  CtaPace pace(1);
  pace.observe(1, true, 100, 100);
  const std::vector<double> factors = {0.9, 1, 1.1, 1};
  const auto rounds = [&](std::size_t sms) {
    return makespans(pace, std::vector<std::uint64_t>(3 * sms, 1000), static_cast<int>(sms), 0, factors).mean;
  };
  EXPECT_GT(rounds(1), 2900);
  EXPECT_LT(rounds(1), 3100);
  EXPECT_GT(rounds(100), rounds(1) + 100);
  EXPECT_LE(rounds(100), 3300) << "three of the longest";
}

}  // namespace
}  // namespace warpscope::gpu
