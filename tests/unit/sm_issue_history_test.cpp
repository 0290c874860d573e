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
  history.issue(1);
  history.advance(3);
  history.issue(1);
  EXPECT_EQ(history.end, 4);
  EXPECT_EQ(history.issued, 0b1001U) << "cycles 0 and 3";
  EXPECT_EQ(history.held, 0U);
  EXPECT_EQ(history.issued_in(1), 1);
  EXPECT_EQ(history.issued_in(3), 1);
  EXPECT_EQ(history.issued_in(4), 2);
}

TEST(IssueHistory, HoldBeginsBehindTheIssue) {
  IssueHistory history;
  history.issue(4);
  history.advance(6);
  EXPECT_EQ(history.issued, 0b100000U);
  EXPECT_EQ(history.held, 0b011100U) << "cycles 1 to 3; 4 and 5 are idle";
  EXPECT_EQ(history.held_in(2), 0);
  EXPECT_EQ(history.held_in(3), 1);
  EXPECT_EQ(history.held_in(64), 3);
}

TEST(IssueHistory, HoldMayBeRecordedPieceByPiece) {
  IssueHistory pieces;
  IssueHistory whole;
  pieces.issue(9);
  whole.issue(9);
  for (const std::int32_t to : {2, 3, 7, 20}) {
    pieces.advance(to);
  }
  whole.advance(20);
  EXPECT_EQ(pieces.held, whole.held);
  EXPECT_EQ(pieces.issued, whole.issued);
  EXPECT_EQ(whole.held, std::uint64_t{0b1111'1111} << 11);
}

TEST(IssueHistory, AnIssueIsNotHeldItself) {
  IssueHistory history;
  history.issue(5);
  history.advance(2);
  history.issue(1);
  history.advance(5);
  EXPECT_EQ(history.issued, 0b10100U);
  EXPECT_EQ(history.held, 0b01000U) << "the hold of the first ends with the issue of the second";
}

TEST(IssueHistory, TimeDoesNotGoBack) {
  IssueHistory history;
  history.issue(1);
  history.advance(10);
  const IssueHistory before = history;
  history.advance(10);
  history.advance(4);
  EXPECT_EQ(history.end, before.end);
  EXPECT_EQ(history.issued, before.issued);
}

TEST(IssueHistory, CyclesOlderThan64AreForgotten) {
  IssueHistory history;
  history.issue(1);
  history.advance(64);
  EXPECT_EQ(history.issued, std::uint64_t{1} << 63);
  EXPECT_EQ(history.issued_in(63), 0);
  EXPECT_EQ(history.issued_in(64), 1);
  EXPECT_EQ(history.issued_in(1000), 1);
  history.advance(65);
  EXPECT_EQ(history.issued, 0U);
}

TEST(IssueHistory, LongHoldsAreCutAtTheBeginningOfTheMask) {
  IssueHistory history;
  history.issue(101);
  history.advance(121);
  EXPECT_EQ(history.issued, 0U);
  EXPECT_EQ(history.held, ~std::uint64_t{0} << 20) << "cycles 57 to 100 are held, 101 to 120 idle";
  history.issue(200);
  history.advance(300);
  EXPECT_EQ(history.held, ~std::uint64_t{0});
  history.advance(1000);
  EXPECT_EQ(history.held, 0U);
}

}  // namespace
}  // namespace warpscope::sm
