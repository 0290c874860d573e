// What the last 64 cycles of an issue slot were used for.
#include "model/sm/issue_history.hpp"

#include <gtest/gtest.h>

namespace warpscope::sm {
namespace {

TEST(IssueHistory, BeginsEmpty) {
  const IssueHistory history;
  EXPECT_EQ(history.issued_in(64), 0);
  EXPECT_EQ(history.held_in(64), 0);
}

TEST(IssueHistory, BitIsTheCycleBeforeTheEnd) {
  IssueHistory history;
  history.issue(0, 1);
  history.issue(3, 1);
  EXPECT_EQ(history.end, 4);
  EXPECT_EQ(history.issued, 0b1001U) << "cycles 0 and 3";
  EXPECT_EQ(history.held, 0U);
  EXPECT_EQ(history.issued_in(0), 0);
  EXPECT_EQ(history.issued_in(1), 1);
  EXPECT_EQ(history.issued_in(3), 1);
  EXPECT_EQ(history.issued_in(4), 2);
  history.go_on_to(5);
  EXPECT_EQ(history.issued_in(4), 1) << "cycles 1 to 4";
}

TEST(IssueHistory, HoldBeginsBehindTheIssue) {
  IssueHistory history;
  history.issue(0, 4);
  EXPECT_EQ(history.end, 4) << "with its hold";
  EXPECT_EQ(history.held_in(64), 3);
  history.go_on_to(6);
  EXPECT_EQ(history.held_in(2), 0) << "cycles 1 to 3 are held; 4 and 5 are idle";
  EXPECT_EQ(history.held_in(3), 1);
  EXPECT_EQ(history.held_in(64), 3);
  history.issue(history.end, 1);
  EXPECT_EQ(history.issued, 0b1000001U);
  EXPECT_EQ(history.held, 0b0111000U);
}

TEST(IssueHistory, IsKnownWithinAHold) {
  IssueHistory history;
  history.issue(2, 1);
  history.issue(3, 4);
  const IssueHistory within = history.as_of(5);
  EXPECT_EQ(within.end, 5);
  EXPECT_EQ(within.issued, 0b110U) << "cycles 2 and 3";
  EXPECT_EQ(within.held, 0b1U) << "cycle 4; 5 and 6 are still to come";
  EXPECT_EQ(history.as_of(7).held, history.held);
}

TEST(IssueHistory, HoldsFollowEachOther) {
  IssueHistory history;
  history.issue(0, 3);
  history.issue(3, 2);
  history.issue(7, 1);
  EXPECT_EQ(history.issued, 0b10010001U) << "cycles 0, 3 and 7";
  EXPECT_EQ(history.held, 0b01101000U) << "cycles 1, 2 and 4";
}

TEST(IssueHistory, CyclesOlderThan63AreForgotten) {
  IssueHistory history;
  history.issue(0, 1);
  history.go_on_to(62);
  EXPECT_EQ(history.issued_in(61), 0);
  EXPECT_EQ(history.issued_in(62), 1);
  EXPECT_EQ(history.issued_in(1000), 1);
  history.issue(history.end, 1);
  EXPECT_EQ(history.issued_in(63), 2);
  history.go_on_to(64);
  EXPECT_EQ(history.issued_in(1000), 1) << "cycle 62";
  history.issue(127, 1);
  EXPECT_EQ(history.issued_in(1000), 1);
}

TEST(IssueHistory, LongHoldsAreCutAtTheBeginningOfTheMask) {
  IssueHistory history;
  history.issue(0, 101);
  history.go_on_to(121);
  EXPECT_EQ(history.issued_in(64), 0);
  EXPECT_EQ(history.held_in(64), 43) << "cycles 58 to 100 are held, 101 to 120 idle";
  EXPECT_EQ(history.held_in(20), 0);
  EXPECT_EQ(history.held_in(21), 1);
  history.issue(history.end, 200);
  EXPECT_EQ(history.end, 321);
  EXPECT_EQ(history.issued_in(64), 0);
  EXPECT_EQ(history.held_in(64), 63);
  history.go_on_to(1000);
  EXPECT_EQ(history.held_in(64), 0);
}

}  // namespace
}  // namespace warpscope::sm
