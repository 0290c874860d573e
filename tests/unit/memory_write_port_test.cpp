// The way into the data of a slice of the L2.
#include "model/memory/write_port.hpp"

#include <gtest/gtest.h>

namespace warpscope::memory {
namespace {

TEST(WritePort, WritesFollowOneAnother) {
  WritePort port;
  EXPECT_EQ(port.write(100, 10), 100);
  EXPECT_EQ(port.write(103, 10), 110);
  EXPECT_EQ(port.write(140, 10), 140);
}

TEST(WritePort, WhatComesFromHbmTakesItsPartWhenItIsThere) {
  WritePort port;
  port.fill(0, 200, 50);
  EXPECT_EQ(port.write(180, 10), 180) << "nothing has come yet";
  EXPECT_EQ(port.write(210, 10), 250) << "behind what came at 200";
}

TEST(WritePort, FillsThatNoWriteFollowsAreServedMeanwhile) {
  WritePort port;
  port.fill(0, 100, 30);
  port.fill(50, 110, 30);
  port.fill(400, 420, 30);
  EXPECT_EQ(port.write(410, 10), 410) << "the first two are long in, the third is not there";
  EXPECT_EQ(port.write(425, 10), 450);
}

TEST(WritePort, WhatNobodyWaitsForMakesWritesWait) {
  constexpr std::int64_t kPeriod = kBackgroundCycles * kQueueUnits;
  WritePort port;
  port.add_background(0, kPeriod / 2, 4 * kQueueUnits);
  // Half of the port is taken: by Pollaczek and Khinchine half a piece of wait.
  EXPECT_NEAR(static_cast<double>(port.write(kQueueUnits, 4 * kQueueUnits) - kQueueUnits), 2.0 * kQueueUnits,
              2);
}

}  // namespace
}  // namespace warpscope::memory
