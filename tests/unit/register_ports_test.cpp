// The ports of the register file, one instruction at a time. Cycles are those of register_ports.csv, measured
// on an H100.
#include "model/sm/register_ports.hpp"

#include <gtest/gtest.h>

namespace warpscope::sm {
namespace {

constexpr int kWindow = 3;
constexpr int kLate = 3;
constexpr ProductReads kHmma{.first = 2, .second = 3, .cycles = 6};
constexpr ProductReads kHmma8{.first = 1, .second = 3, .cycles = 4};

TEST(RegisterPorts, LanesReadOneBehindTheOther) {
  RegisterPorts ports;
  // FADD of two even registers: two cycles each, the first of which fits into the window.
  EXPECT_EQ(read_for_lanes(ports, 2, kWindow, 0), 0);
  EXPECT_EQ(read_for_lanes(ports, 2, kWindow, 1), 2);
  EXPECT_EQ(read_for_lanes(ports, 2, kWindow, 3), 4);
  // Of an even and an odd one: one cycle.
  EXPECT_EQ(read_for_lanes(ports, 1, kWindow, 5), 5);
  EXPECT_EQ(read_for_lanes(ports, 1, kWindow, 6), 6);
}

TEST(RegisterPorts, ProductsFollowWhenTheirOperandsAreRead) {
  RegisterPorts ports;
  EXPECT_EQ(read_for_product(ports, kHmma, 0).time, 0);
  EXPECT_EQ(read_for_product(ports, kHmma, 1).time, 6);
  EXPECT_EQ(read_for_product(ports, kHmma8, 20).time, 20);
  EXPECT_EQ(read_for_product(ports, kHmma8, 21).time, 24);
}

TEST(RegisterPorts, AProductFindsNoPlaceForAAndStands) {
  for (const auto& [first, leaves] : {std::pair(2, 6), std::pair(0, 4)}) {
    RegisterPorts ports;
    for (int time = 0; time < 4; ++time) {
      read_for_lanes(ports, 1, kWindow, time);  // in the third cycle of each
    }
    ProductReads reads = kHmma;
    reads.first = first;  // 0: A is kept
    EXPECT_EQ(read_for_product(ports, reads, 4).time, leaves);
  }
}

TEST(RegisterPorts, LanesDoNotLeaveInTwoCyclesBehindAProduct) {
  for (const auto& [time, leaves] :
       {std::pair(7, 7), std::pair(8, 10), std::pair(9, 10), std::pair(10, 10)}) {
    RegisterPorts ports;
    read_for_product(ports, kHmma, 0);
    EXPECT_EQ(read_for_lanes(ports, 1, kWindow, time), leaves);
  }
}

// The second one reads B and C in cycles 10 to 12: an FADD in cycle 8 or 9 stands, and reads in 9 meanwhile.
TEST(RegisterPorts, LanesStandBehindAProductAlsoWhereAnotherOneFollows) {
  for (const int reads : {0, 1}) {
    for (const auto& [time, leaves] : {std::pair(7, 7), std::pair(8, 10), std::pair(9, 10)}) {
      RegisterPorts ports;
      ProductReads kept = kHmma;
      kept.first = 0;
      read_for_product(ports, kept, 0);
      EXPECT_EQ(read_for_product(ports, kept, 6).time, 6);
      EXPECT_EQ(read_for_lanes(ports, reads, kWindow, time), leaves) << reads << " in " << time;
    }
  }
}

// A SHFL `behind` cycles after an HMMA: 2 and 1 cycles late, else in time; the HMMA after it comes one cycle
// later for 1 to 3.
TEST(RegisterPorts, WhatReadsLateWaitsForAProduct) {
  for (const auto& [behind, late, next] : {std::tuple(1, 2, 7), std::tuple(2, 1, 7), std::tuple(3, 0, 7),
                                           std::tuple(4, 0, 6), std::tuple(5, 0, 6)}) {
    RegisterPorts ports;
    read_for_product(ports, kHmma, 0);
    ports.go_on_to(behind);
    EXPECT_EQ(read_later(ports, &RegisterPorts::by_memory, behind + kLate), behind + kLate + late) << behind;
    EXPECT_EQ(read_for_product(ports, kHmma, 6).time, next) << behind;
  }
}

// An HMMA `behind` cycles after a STS of one register: the STS is 4 and 5 cycles late, else in time; the HMMA
// after it comes one cycle later for 1 to 3.
TEST(RegisterPorts, AProductComesBeforeWhatHasYetToRead) {
  for (const auto& [behind, waits, next] :
       {std::tuple(1, 4, 7), std::tuple(2, 5, 7), std::tuple(3, 0, 7), std::tuple(4, 0, 6)}) {
    RegisterPorts ports;
    EXPECT_EQ(read_later(ports, &RegisterPorts::by_memory, kLate), kLate);
    EXPECT_EQ(read_for_product(ports, kHmma, behind).memory_waits, waits) << behind;
    EXPECT_EQ(read_for_product(ports, kHmma, behind + 1).time, behind + next) << behind;
  }
}

TEST(RegisterPorts, XuInstructionsDoNotHoldMemoryInstructionsBack) {
  RegisterPorts ports;
  read_later(ports, &RegisterPorts::by_xu, kLate);
  const ProductLeaves leaves = read_for_product(ports, kHmma, 1);
  EXPECT_EQ(leaves.memory_waits, 0);
  EXPECT_EQ(leaves.xu_reads, 1 + 6) << "behind the reads of the tensor instruction";
  EXPECT_EQ(read_for_product(ports, kHmma, 40).xu_reads, -1) << "none waits";
}

TEST(RegisterPorts, AnXuInstructionPutsOffTheNextProduct) {
  RegisterPorts ports;
  read_later(ports, &RegisterPorts::by_xu, kLate);
  read_for_product(ports, kHmma, 1);
  EXPECT_EQ(read_for_product(ports, kHmma, 2).time, 1 + 6 + 1);
}

TEST(RegisterPorts, AnotherOriginChangesNothing) {
  RegisterPorts ports;
  read_for_product(ports, kHmma, 100);
  read_later(ports, &RegisterPorts::by_memory, 101 + kLate);
  ports.rebase(102);
  EXPECT_EQ(read_for_product(ports, kHmma, 0).time, 107 - 102);
}

}  // namespace
}  // namespace warpscope::sm
