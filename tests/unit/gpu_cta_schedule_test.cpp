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

TEST(Makespan, OverheadCountsForEachCta) {
  CtaPace pace(1);
  pace.observe(1, true, 100, 200);
  EXPECT_DOUBLE_EQ(makespan(pace, {200, 200}, 1, 30), 260);
}

TEST(CtaScatter, IsRelativeToTheMeanOfTheClass) {
  CtaScatter scatter(2);
  scatter.observe(2, 0, 90);
  scatter.observe(0, 0, 110);
  scatter.observe(1, 1, 500);
  EXPECT_EQ(scatter.factors(), (std::vector<double>{1.1, 1, 0.9}));
  EXPECT_EQ(CtaScatter(1).factors(), std::vector<double>{1}) << "nothing was seen";
}

TEST(MeanMakespan, WithoutScatterIsTheMakespan) {
  EXPECT_DOUBLE_EQ(mean_makespan(two_slots(), {300, 600, 600}, 1, 0, {1, 1, 1, 1}, 2), 550);
}

TEST(MeanMakespan, LastOfManySmsEndsLater) {
  CtaPace pace(1);
  pace.observe(1, true, 100, 100);
  const std::vector<double> factors = {0.9, 1, 1.1, 1};
  const auto rounds = [&](std::size_t sms) {
    return mean_makespan(pace, std::vector<std::uint64_t>(3 * sms, 1000), static_cast<int>(sms), 0, factors,
                         4);
  };
  EXPECT_GT(rounds(1), 2900);
  EXPECT_LT(rounds(1), 3100);
  EXPECT_GT(rounds(100), rounds(1) + 100);
  EXPECT_LE(rounds(100), 3300) << "three of the longest";
}

TEST(MeanMakespan, CtasVaryLikeThoseOfTheirTime) {
  CtaPace pace(1);
  pace.observe(1, true, 100, 100);
  // The first half of the launch takes twice the time of the second.
  const std::vector<double> factors = {1.5, 1.5, 0.75, 0.75};
  EXPECT_NEAR(mean_makespan(pace, std::vector<std::uint64_t>(100, 100), 1, 0, factors, 1), 11250, 1);
}

}  // namespace
}  // namespace warpscope::gpu
