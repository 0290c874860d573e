// The order in which blocks turned dirty.
#include "model/memory/dirty_order.hpp"

#include <gtest/gtest.h>

namespace warpscope::memory {
namespace {

TEST(DirtyOrder, BlocksLeaveFromAnywhereAndTheOrderOfTheOthersStays) {
  DirtyOrder order;
  order.reset(8);
  EXPECT_EQ(order.first(), DirtyOrder::kNone);
  for (const std::uint32_t block : {5U, 2U, 7U, 0U}) {
    order.append(block);
  }
  order.remove(2);
  EXPECT_FALSE(order.contains(2));
  EXPECT_TRUE(order.contains(7));
  order.remove(5);
  EXPECT_EQ(order.first(), 7U);
  order.remove(0);
  EXPECT_EQ(order.last(), 7U);
  order.append(2);
  EXPECT_EQ(order.last(), 2U);
  order.remove(7);
  order.remove(2);
  EXPECT_EQ(order.first(), DirtyOrder::kNone);
  EXPECT_EQ(order.last(), DirtyOrder::kNone);
}

}  // namespace
}  // namespace warpscope::memory
