// What the last 64 cycles of an issue slot were used for.
#include "model/sm/issue_history.hpp"

#include <gtest/gtest.h>

namespace warpscope::sm {
namespace {

/// Something issues at `time` and takes the port for `taken` cycles.
void issue_at(IssueHistory& history, std::int32_t time, std::int32_t taken) {
  history.go_on_to(time);
  history.issue(taken);
}

TEST(IssueHistory, BeginsEmpty) {
  const IssueHistory history;
  EXPECT_EQ(history.issued_in(64), 0);
  EXPECT_EQ(history.held_in(64), 0);
}

TEST(IssueHistory, BeginsWithTheHoldThatIsLeft) {
  IssueHistory history{.hold = 3};
  history.go_on_to(2);
  EXPECT_EQ(history.held_in(64), 2);
  EXPECT_EQ(history.hold, 1);
  history.go_on_to(5);
  EXPECT_EQ(history.held_in(64), 3);
  EXPECT_EQ(history.held_in(3), 1) << "cycles 2 to 4";
  EXPECT_EQ(history.issued_in(64), 0);
}

TEST(IssueHistory, BitIsTheCycleBeforeTheEnd) {
  IssueHistory history;
  issue_at(history, 0, 1);
  issue_at(history, 3, 1);
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
  issue_at(history, 0, 4);
  history.go_on_to(3);
  EXPECT_EQ(history.held_in(64), 2) << "the end lies within the hold";
  history.go_on_to(6);
  EXPECT_EQ(history.held_in(2), 0) << "cycles 1 to 3 are held; 4 and 5 are idle";
  EXPECT_EQ(history.held_in(3), 1);
  EXPECT_EQ(history.held_in(64), 3);
  history.issue(1);
  EXPECT_EQ(history.issued, 0b1000001U);
  EXPECT_EQ(history.held, 0b0111000U);
}

TEST(IssueHistory, HoldsFollowEachOther) {
  IssueHistory history;
  issue_at(history, 0, 3);
  issue_at(history, 3, 2);
  issue_at(history, 7, 1);
  EXPECT_EQ(history.issued, 0b10010001U) << "cycles 0, 3 and 7";
  EXPECT_EQ(history.held, 0b01101000U) << "cycles 1, 2 and 4";
}

TEST(IssueHistory, CyclesOlderThan64AreForgotten) {
  IssueHistory history;
  issue_at(history, 0, 1);
  history.go_on_to(63);
  EXPECT_EQ(history.issued_in(62), 0);
  EXPECT_EQ(history.issued_in(63), 1);
  EXPECT_EQ(history.issued_in(64), 1);
  EXPECT_EQ(history.issued_in(1000), 1);
  history.issue(1);
  EXPECT_EQ(history.issued, 1U | std::uint64_t{1} << 63);
  history.go_on_to(65);
  EXPECT_EQ(history.issued_in(1000), 1) << "cycle 63";
  issue_at(history, 127, 1);
  EXPECT_EQ(history.issued, 1U);
}

TEST(IssueHistory, LongHoldsAreCutAtTheBeginningOfTheMask) {
  IssueHistory history;
  issue_at(history, 0, 101);
  history.go_on_to(121);
  EXPECT_EQ(history.issued_in(64), 0);
  EXPECT_EQ(history.held_in(64), 44) << "cycles 57 to 100 are held, 101 to 120 idle";
  EXPECT_EQ(history.held_in(20), 0);
  EXPECT_EQ(history.held_in(21), 1);
  history.issue(200);
  EXPECT_EQ(history.held, ~std::uint64_t{0} << 21);
  history.go_on_to(300);
  EXPECT_EQ(history.held_in(64), 64);
  EXPECT_EQ(history.hold, 21);
  history.go_on_to(1000);
  EXPECT_EQ(history.held_in(64), 0);
}

}  // namespace
}  // namespace warpscope::sm
