// What the last 64 cycles of an issue slot were used for.
#include "model/sm/issue_history.hpp"

#include <gtest/gtest.h>

namespace warpscope::sm {
namespace {

TEST(IssueHistory, BeginsEmpty) {
  const IssueHistory history;
  EXPECT_EQ(history.issued_in(64, 0), 0);
  EXPECT_EQ(history.held_in(64, 0), 0);
}

TEST(IssueHistory, BeginsWithTheHoldThatIsLeft) {
  const IssueHistory history{.hold = 3};
  EXPECT_EQ(history.held_in(64, 2), 2);
  EXPECT_EQ(history.held_in(64, 5), 3);
  EXPECT_EQ(history.held_in(3, 5), 1) << "cycles 2 to 4";
  EXPECT_EQ(history.issued_in(64, 5), 0);
}

TEST(IssueHistory, BitIsTheCycleBeforeTheLastIssue) {
  IssueHistory history;
  history.issue(0, 1);
  history.issue(3, 1);
  EXPECT_EQ(history.last, 3);
  EXPECT_EQ(history.issued, 0b1001U) << "cycles 0 and 3";
  EXPECT_EQ(history.held, 0U);
  EXPECT_EQ(history.issued_in(1, 4), 1);
  EXPECT_EQ(history.issued_in(3, 4), 1);
  EXPECT_EQ(history.issued_in(4, 4), 2);
  EXPECT_EQ(history.issued_in(4, 5), 1) << "cycles 1 to 4";
}

TEST(IssueHistory, HoldBeginsBehindTheIssue) {
  IssueHistory history;
  history.issue(0, 4);
  EXPECT_EQ(history.held_in(2, 6), 0) << "cycles 1 to 3 are held; 4 and 5 are idle";
  EXPECT_EQ(history.held_in(3, 6), 1);
  EXPECT_EQ(history.held_in(64, 6), 3);
  EXPECT_EQ(history.held_in(64, 3), 2) << "the end lies within the hold";
  history.issue(6, 1);
  EXPECT_EQ(history.issued, 0b1000001U);
  EXPECT_EQ(history.held, 0b0111000U);
}

TEST(IssueHistory, HoldsFollowEachOther) {
  IssueHistory history;
  history.issue(0, 3);
  history.issue(3, 2);
  history.issue(7, 1);
  EXPECT_EQ(history.issued, 0b10010001U) << "cycles 0, 3 and 7";
  EXPECT_EQ(history.held, 0b01101000U) << "cycles 1, 2 and 4";
}

TEST(IssueHistory, CyclesOlderThan64AreForgotten) {
  IssueHistory history;
  history.issue(0, 1);
  EXPECT_EQ(history.issued_in(63, 64), 0);
  EXPECT_EQ(history.issued_in(64, 64), 1);
  EXPECT_EQ(history.issued_in(1000, 64), 1);
  EXPECT_EQ(history.issued_in(1000, 65), 0);
  history.issue(63, 1);
  EXPECT_EQ(history.issued, 1U | std::uint64_t{1} << 63);
  history.issue(127, 1);
  EXPECT_EQ(history.issued, 1U);
}

TEST(IssueHistory, LongHoldsAreCutAtTheBeginningOfTheMask) {
  IssueHistory history;
  history.issue(0, 101);
  EXPECT_EQ(history.issued_in(64, 121), 0);
  EXPECT_EQ(history.held_in(64, 121), 44) << "cycles 57 to 100 are held, 101 to 120 idle";
  EXPECT_EQ(history.held_in(20, 121), 0);
  EXPECT_EQ(history.held_in(21, 121), 1);
  history.issue(121, 200);
  EXPECT_EQ(history.held, ~std::uint64_t{0} << 21);
  EXPECT_EQ(history.held_in(64, 300), 64);
  EXPECT_EQ(history.held_in(64, 1000), 0);
}

}  // namespace
}  // namespace warpscope::sm
