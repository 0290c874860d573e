#include <gtest/gtest.h>

#include "model/sm/turn.hpp"

namespace warpscope::sm {
namespace {

/// The sub-core that comes first behind `last` when they are there at these times.
std::size_t first(const std::array<std::int32_t, kMaxSubCores>& times, std::size_t last) {
  Turns turns;
  for (std::size_t s = 0; s < kMaxSubCores; ++s) {
    turns[s] = turn_of(s, times[s], times[s]);
  }
  return sub_core_of(first_of(turns, last));
}

TEST(SubCoreTurn, EarliestComesFirstWhoeverWasLast) {
  for (std::size_t last = 0; last < kMaxSubCores; ++last) {
    EXPECT_EQ(first({9, 7, 8, 9}, last), 1U);
    EXPECT_EQ(first({9, 9, 9, 8}, last), 3U);
  }
}

TEST(SubCoreTurn, OfThoseThereAtOnceTheNextOneBehindTheLastComesFirst) {
  EXPECT_EQ(first({5, 5, 5, 5}, 3), 0U);
  EXPECT_EQ(first({5, 5, 5, 5}, 0), 1U);
  EXPECT_EQ(first({5, 5, 5, 5}, 2), 3U);
  EXPECT_EQ(first({5, 6, 5, 6}, 0), 2U);
  EXPECT_EQ(first({5, 6, 5, 6}, 2), 0U);
  EXPECT_EQ(first({5, kNever, kNever, kNever}, 0), 0U);
}

TEST(SubCoreTurn, WhoHasWaitedLongerComesBeforeTheNextOne) {
  Turns turns;
  for (std::size_t s = 0; s < kMaxSubCores; ++s) {
    turns[s] = turn_of(s, 20, s == 0 ? 10 : 15);
  }
  EXPECT_EQ(sub_core_of(first_of(turns, 0)), 0U);
  EXPECT_EQ(time_of(first_of(turns, 0)), 20);
}

}  // namespace
}  // namespace warpscope::sm
