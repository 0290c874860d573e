// Shared memory, shuffles and the queue in front of them.
#include <gtest/gtest.h>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

/// `loads` instructions that write R0, R1, ..., and an exit that waits for the last.
Program loads(trace::Opcode opcode, int count, std::uint32_t bytes, std::uint16_t wavefronts) {
  Program program;
  for (int i = 0; i < count; ++i) {
    program.op(opcode).writes(static_cast<std::uint16_t>(i)).shared(bytes, wavefronts);
  }
  program.exit().reads(static_cast<std::uint16_t>(count - 1));
  return program;
}

int load_latency(const hw::SharedMemory& shared, int bytes) {
  return shared.base_latency_cycles + bytes / shared.sub_core_bytes_per_clk;
}

TEST(SmSharedMemory, LatencyGrowsWithTheBytesASubCoreTakes) {
  const hw::HwConfig config = test_config();
  EXPECT_EQ(exit_time(config, loads(LDS_32, 1, 128, 1)), load_latency(config.sm.shared, 128));
  EXPECT_EQ(exit_time(config, loads(LDS_64, 1, 256, 2)), load_latency(config.sm.shared, 256));
  EXPECT_EQ(exit_time(config, loads(LDS_128, 1, 512, 4)), load_latency(config.sm.shared, 512));
  EXPECT_EQ(exit_time(config, loads(LDSM_X4, 1, 512, 4)), load_latency(config.sm.shared, 512));
}

TEST(SmSharedMemory, OneSubCoreLoadsAMatrixFourEveryEightCycles) {
  const hw::HwConfig config = test_config();
  for (int count = 1; count < 8; ++count) {
    EXPECT_EQ(exit_time(config, loads(LDSM_X4, count, 512, 4)),
              8 * (count - 1) + load_latency(config.sm.shared, 512));
  }
}

TEST(SmSharedMemory, TheSmLoadsAMatrixFourEveryFourCycles) {
  const hw::HwConfig config = test_config();
  const Program program = loads(LDSM_X4, 6, 512, 4);
  const int latency = load_latency(config.sm.shared, 512);
  EXPECT_EQ(exit_time(config, program, 2), 4 * (2 * 6 - 1) + latency);
  EXPECT_EQ(exit_time(config, program, 4), 4 * (4 * 6 - 1) + latency);
}

TEST(SmSharedMemory, SubCoresTakeTurnsAtTheDataPath) {
  const hw::HwConfig config = test_config();
  CoreBench bench(config, one_program(loads(LDSM_X4, 3, 512, 4).build(), 1, 4), 4);
  bench.run();
  for (int slot = 0; slot < 4; ++slot) {
    EXPECT_EQ(bench.end_of(slot), 4 * (2 * 4 + slot) + load_latency(config.sm.shared, 512));
  }
}

TEST(SmSharedMemory, SmallLoadsKeepTheIntervalOfTheSubCore) {
  const hw::HwConfig config = test_config();
  const int interval = config.sm.mio.min_interval_cycles;
  EXPECT_EQ(exit_time(config, loads(LDS_32, 5, 128, 1)), 4 * interval + load_latency(config.sm.shared, 128));
  // Two of four sub-cores fill a data path that takes one a cycle; four need twice as long.
  EXPECT_EQ(exit_time(config, loads(LDS_32, 5, 128, 1), 2),
            4 * interval + 1 + load_latency(config.sm.shared, 128));
  EXPECT_EQ(exit_time(config, loads(LDS_32, 5, 128, 1), 4), 4 * 5 - 1 + load_latency(config.sm.shared, 128));
}

TEST(SmSharedMemory, WhatIsTurnedOffTakesOneCycleOfSubCoreAndSm) {
  const hw::HwConfig config = test_config();
  const Program program = loads(LDS_32, 5, 0, 0);
  EXPECT_EQ(exit_time(config, program), 5 - 1 + load_latency(config.sm.shared, 0));
  EXPECT_EQ(exit_time(config, program, 4), 4 * 5 - 1 + load_latency(config.sm.shared, 0));
}

TEST(SmSharedMemory, BankConflictsTakeTheDataPathLonger) {
  const hw::HwConfig config = test_config();
  const Program program = loads(LDS_32, 3, 128, 16);
  CoreBench bench(config, one_program(program.build(), 2));
  EXPECT_EQ(bench.run(), 16 * 5 + load_latency(config.sm.shared, 128));
  EXPECT_EQ(bench.core().counters().shared_load_wavefronts, 16U * 6);
  EXPECT_EQ(bench.core().counters().shared_store_wavefronts, 0U);
  EXPECT_EQ(bench.core().counters().data_path_cycles, 16 * 6);
}

TEST(SmSharedMemory, StoresCountTheirOwnWavefronts) {
  Program program;
  program.op(STS_64).shared(256, 2).op(STS_32).shared(128, 3).exit();
  CoreBench bench(test_config(), one_program(program.build()));
  bench.run();
  EXPECT_EQ(bench.core().counters().shared_store_wavefronts, 5U);
  EXPECT_EQ(bench.core().counters().shared_load_wavefronts, 0U);
}

TEST(SmSharedMemory, AtomicsHoldTheDataPathLikeStoresAndAreNone) {
  Program program;
  program.op(ATOMS_MAX).shared(128, 7).op(ATOMS_MAX).shared(128, 4);
  program.op(LDS_32).writes(1).shared(128, 1).exit().reads(1);  // behind both
  CoreBench bench(test_config(), one_program(program.build()));
  bench.run();
  EXPECT_EQ(bench.core().counters().data_path_cycles, 7 + 4 + 1);
  EXPECT_EQ(bench.core().counters().shared_store_wavefronts, 0U);
  EXPECT_EQ(bench.core().counters().shared_load_wavefronts, 1U);
}

TEST(SmShuffle, GoesThroughAtItsOwnIntervalAndLatency) {
  const hw::HwConfig config = test_config();
  const hw::Shuffle& shuffle = config.sm.shuffle;
  for (int count = 1; count < 6; ++count) {
    Program program;
    program.op(SHFL_BFLY, count).writes(9).exit().reads(9);
    // Only the last writes R9.
    EXPECT_EQ(exit_time(config, program), (count - 1) * shuffle.interval_cycles + shuffle.latency_cycles);
  }
}

TEST(SmShuffle, SpecialRegistersComeTheSameWay) {
  Program program;
  program.op(S2R, 2).writes(9).exit().reads(9);
  const hw::Shuffle& shuffle = test_config().sm.shuffle;
  EXPECT_EQ(exit_time(test_config(), program), shuffle.interval_cycles + shuffle.latency_cycles);
}

TEST(SmMio, FullQueueHoldsIssueUntilAnEntryLeaves) {
  const hw::HwConfig config = test_config();
  Program program;
  for (int i = 0; i < 9; ++i) {
    program.op(LDG_32).global(0, i, 128);
  }
  program.exit();
  CoreBench bench(config, one_program(program.build()));
  bench.run();
  // One enters each cycle and one leaves every two. With the one of cycle 5 three are waiting, so that the
  // last three enter two cycles after others leave.
  ASSERT_EQ(config.sm.mio.queue_entries, 3);
  ASSERT_EQ(bench.accesses().size(), 9U);
  for (std::size_t i = 0; i < 9; ++i) {
    EXPECT_EQ(bench.accesses()[i].time, 2 * static_cast<std::int64_t>(i)) << i;
  }
  EXPECT_EQ(bench.stalled(metrics::Stall::mio_throttle), 4U) << "cycles 6, 7, 9 and 11";
}

TEST(SmMio, FullQueueLetsOtherWarpsIssue) {
  const hw::HwConfig config = test_config();
  // Slots 0 and 4 share a sub-core.
  trace::Launch launch = one_program(Program().op(SHFL_BFLY, 6).exit().build(), 1, 5);
  launch.programs.push_back(Program().op(NOP, 20).exit().build());
  launch.programs.push_back(Program().exit().build());
  launch.classes = {{{0}, {}, {}}, {{1}, {}, {}}, {{2}, {}, {}}};
  launch.class_of_block[0] = {0, 2, 2, 2, 1};
  CoreBench bench(config, launch, 5);
  bench.run();
  // The queue is full behind the shuffle of cycle 3, until cycle 6; by then the other warp has the slot and
  // keeps it. The last two shuffles issue in cycles 25 and 26.
  EXPECT_EQ(bench.end_of(4), 4 + 20);
  EXPECT_EQ(bench.end_of(0), 25 + config.sm.shuffle.interval_cycles);
}

TEST(SmMio, ExitWaitsUntilTheWarpsInstructionsHaveLeftTheQueue) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(SHFL_BFLY, 3).exit();
  CoreBench bench(config, one_program(program.build()));
  EXPECT_EQ(bench.run(), 2 * config.sm.shuffle.interval_cycles);
  EXPECT_EQ(bench.stalled(metrics::Stall::drain), 2U * 6 - 3);
}

}  // namespace
}  // namespace warpscope::test
