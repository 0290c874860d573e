// Lookups of the L2, of all slices together.
#include "model/memory/lookups.hpp"

#include <gtest/gtest.h>

namespace warpscope::memory {
namespace {

constexpr std::int64_t kSlices = 94;
/// A line takes a slice so long, which is no whole part of it for all slices.
constexpr std::int64_t kLineUnits = 1200;
constexpr std::int64_t kPeriodUnits = kBackgroundCycles * kQueueUnits;

// 132 SMs read one block of 16 lines: its slice alone would take 2475 cycles for them.
TEST(Lookups, AllSlicesServeWhatSmsAskOfOneBlock) {
  Lookups lookups(kSlices);
  std::int64_t last = 0;
  for (int sm = 0; sm < 132; ++sm) {
    last = lookups.serve(0, 16 * kLineUnits, 1);
  }
  EXPECT_EQ(last, 131 * 16 * kLineUnits / kSlices) << "26.1 cycles, to the unit";
}

TEST(Lookups, OfSlicesTheyAreAsFastAsOneWhereThereIsOne) {
  Lookups lookups(1);
  EXPECT_EQ(lookups.serve(100, kLineUnits, 1), 100);
  EXPECT_EQ(lookups.serve(100, kLineUnits, 1), 100 + kLineUnits);
}

// What SMs ask for that one stands for comes with the next background, and once.
TEST(Lookups, OthersComeWithTheNextBackground) {
  Lookups lookups(kSlices);
  constexpr std::int64_t kOthers = 2;
  lookups.serve(0, kSlices * kPeriodsApart * kPeriodUnits, 1 + kOthers);
  const std::int64_t free = kPeriodsApart * kPeriodUnits;
  EXPECT_EQ(lookups.serve(free, kSlices, 1), free) << "not yet";
  lookups.add_background(free, 0, 0);
  const std::int64_t after = free + kPeriodUnits;
  // In this period come two of what the unit can do in one, of which one is left.
  EXPECT_NEAR(static_cast<double>(lookups.serve(after, kSlices, 1) - after),
              static_cast<double>((kOthers - 1) * kPeriodUnits), 64);
}

}  // namespace
}  // namespace warpscope::memory
