// Who reads registers when: between issue and its pipe an instruction stands until it may read its operands.
#include <gtest/gtest.h>

#include "model/metrics/result.hpp"
#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

TEST(SmOperands, FmaAndAluStandBehindATensorInstruction) {
  const hw::HwConfig config = test_config();
  for (const trace::Opcode other : {FFMA, IMAD, FMNMX, F2FP_PACK_AB}) {
    EXPECT_EQ(exit_time(config, Program().op(HMMA_16816_F32).op(other).exit()),
              config.sm.tensor.hmma_16816.dispatch_hold_cycles + 1)
        << trace::info(other).name;
    EXPECT_EQ(exit_time(config, Program().op(HMMA_1688_F32).op(other).exit()),
              config.sm.tensor.hmma_1688.dispatch_hold_cycles + 1);
  }
}

TEST(SmOperands, OthersPassATensorInstruction) {
  for (const trace::Opcode other : {MUFU_EX2, UIADD3, NOP, BSSY}) {
    EXPECT_EQ(exit_time(test_config(), Program().op(HMMA_16816_F32).op(other).exit()), 2)
        << trace::info(other).name;
  }
}

// The interval of 8 cycles, and one more for each that reads registers meanwhile.
TEST(SmOperands, EachReaderPutsOffTheNextTensorInstruction) {
  const hw::HwConfig config = test_config();
  const int interval = config.sm.tensor.hmma_16816.interval_cycles;
  for (const auto& [between, readers] :
       {std::pair(NOP, 0), std::pair(UIADD3, 0), std::pair(FFMA, 1), std::pair(MUFU_EX2, 1)}) {
    Program program;
    program.op(HMMA_16816_F32).op(NOP, 3).op(between).op(HMMA_16816_F32).exit();
    EXPECT_EQ(exit_time(config, program), interval + readers + 1) << trace::info(between).name;
  }
  EXPECT_EQ(exit_time(config, Program().op(HMMA_16816_F32).op(NOP, 3).op(FFMA, 3).op(HMMA_16816_F32).exit()),
            interval + 3 + 1);
}

TEST(SmOperands, ReadersPutOffNothingWhenTheTensorPipeIsIdle) {
  const hw::HwConfig config = test_config();
  EXPECT_EQ(exit_time(config, Program().op(FFMA, 20).op(HMMA_16816_F32).exit()), 21);
  EXPECT_EQ(exit_time(config, Program().op(HMMA_16816_F32).op(NOP, 12).op(FFMA).op(HMMA_16816_F32).exit()),
            15);
}

// An instruction of three registers issues when the tensor pipe is free: its ports are taken for 3 + 1
// cycles.
TEST(SmOperands, SeveralRegistersTakeTheirTime) {
  const hw::HwConfig config = test_config();
  const int interval = config.sm.tensor.hmma_16816.interval_cycles;
  for (const auto& [registers, cycles] : {std::pair(1, 1), std::pair(2, 3), std::pair(3, 4)}) {
    Program program;
    program.op(HMMA_16816_F32).op(NOP, interval - 1).op(FFMA);
    for (int i = 0; i < registers; ++i) {
      program.reads(static_cast<std::uint16_t>(20 + i));
    }
    program.op(HMMA_16816_F32).exit();
    EXPECT_EQ(exit_time(config, program), interval + cycles + 1) << registers;
  }
}

TEST(SmOperands, WhatTheInstructionBeforeHasReadIsAtHand) {
  const hw::HwConfig config = test_config();
  const int interval = config.sm.tensor.hmma_16816.interval_cycles;
  const auto reads_of_second = [&](std::uint16_t first) {
    Program program;
    program.op(HMMA_16816_F32).op(NOP, interval).op(FFMA).reads(20).reads(21).reads(22);
    program.op(FFMA).reads(first).reads(21).reads(22).op(HMMA_16816_F32).exit();
    return exit_time(config, program);
  };
  EXPECT_EQ(reads_of_second(30), interval + 1 + 4 + 1) << "one new register: the first FFMA decides";
  Program all_new;
  all_new.op(HMMA_16816_F32).op(NOP, interval).op(FFMA).reads(20).reads(21).reads(22);
  all_new.op(FFMA).reads(21).reads(22).reads(20).op(HMMA_16816_F32).exit();
  EXPECT_EQ(exit_time(config, all_new), interval + 2 + 4 + 1) << "elsewhere before: read again";
}

TEST(SmOperands, WhatTheyCostIsAKeyOfTheGpu) {
  hw::HwConfig config = test_config();
  config.sm.issue.tensor_hold_cycles = 7;
  EXPECT_EQ(exit_time(config, Program().op(HMMA_16816_F32).op(NOP, 3).op(FFMA).op(HMMA_16816_F32).exit()),
            config.sm.tensor.hmma_16816.interval_cycles + 7 + 1);
}

TEST(SmOperands, StallCountsRunFromTheOperands) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(HMMA_16816_F32).op(FFMA).stall(5).exit();
  EXPECT_EQ(exit_time(config, program), config.sm.tensor.hmma_16816.dispatch_hold_cycles + 5);
}

TEST(SmOperands, OtherWarpsCannotIssueWhileOneStands) {
  const hw::HwConfig config = test_config();
  const trace::WarpProgram stands = Program("stands").op(HMMA_16816_F32).op(FFMA).exit().build();
  const trace::WarpProgram plain = Program("plain").op(NOP, 2).exit().build();
  // Slots 0 and 4 share a sub-core; the older CTA goes on as long as it can.
  trace::Launch launch = one_warp_each({stands, plain});
  launch.threads_per_cta = 32;
  launch.grid = {5, 1, 1};
  launch.classes = {{{0}, {}, {}}, {{1}, {}, {}}};
  launch.class_of_block[0] = {0, 1, 1, 1, 1};
  CoreBench bench(config, launch, 5);
  bench.run();
  const int hold = config.sm.tensor.hmma_16816.dispatch_hold_cycles;
  EXPECT_EQ(bench.end_of(1), 2) << "another sub-core";
  EXPECT_EQ(bench.end_of(0), hold + 1);
  EXPECT_EQ(bench.end_of(4), hold + 1 + 3);
  const auto stalls = bench.core().counters().stall_warp_cycles;
  EXPECT_EQ(stalls[static_cast<std::size_t>(metrics::Stall::dispatch_stall)], hold - 1);
}

}  // namespace
}  // namespace warpscope::test
