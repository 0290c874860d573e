// Which scoreboards the compiler hands out.
#include "kernels/compiler/scoreboards.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warpscope::tests {
namespace {

using kernels::Scoreboards;
using trace::OpClass;

std::vector<int> early_loads(Scoreboards& boards, int count) {
  std::vector<int> result;
  for (int i = 0; i < count; ++i) {
    result.push_back(boards.early_load());
  }
  return result;
}

TEST(Scoreboards, EarlyLoadsBesideLateOnesLeaveTwo) {
  Scoreboards boards(true, true, false);
  EXPECT_EQ(early_loads(boards, 4), (std::vector<int>{1, 2, 5, 5}));
  EXPECT_EQ(boards.result(OpClass::shared_load), 3);
  EXPECT_EQ(boards.result(OpClass::shared_load), 4);
  EXPECT_EQ(boards.result(OpClass::shared_load), 4) << "the latest of its kind";
}

TEST(Scoreboards, EarlyLoadsTakeAllWhereNoneIsLate) {
  Scoreboards boards(true, false, false);
  EXPECT_EQ(early_loads(boards, 6), (std::vector<int>{1, 2, 3, 4, 5, 5}));
}

TEST(Scoreboards, AFreedOneIsGivenOutAgain) {
  Scoreboards boards(true, true, false);
  EXPECT_EQ(early_loads(boards, 3), (std::vector<int>{1, 2, 5}));
  boards.waited(1U << 2);
  EXPECT_EQ(early_loads(boards, 2), (std::vector<int>{2, 5}));
}

TEST(Scoreboards, OneThatIsWaitedForIsTakenUntilThen) {
  Scoreboards boards(true, false, false);
  boards.hold(1U << 1 | 1U << 3);
  EXPECT_EQ(early_loads(boards, 2), (std::vector<int>{2, 4}));
  boards.waited(1U << 3);
  EXPECT_EQ(early_loads(boards, 2), (std::vector<int>{3, 5}));
}

}  // namespace
}  // namespace warpscope::tests
