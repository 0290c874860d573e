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

}  // namespace
}  // namespace warpscope::gpu
