// Who reads registers when: an instruction stands between issue and its pipe until it may read its operands.
#include <gtest/gtest.h>

#include "model/metrics/result.hpp"
#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

/// An HMMA that issues in cycle 0 reads in 1, 2, 4, 5 and 6; behind it comes an FADD of these two registers.
Program fadd_behind_hmma(std::uint16_t first, std::uint16_t second) {
  Program program;
  program.op(HMMA_16816_F32).op(FADD).reads(first).reads(second);
  return program;
}

TEST(SmOperands, TwoRegistersOfOneBankStandBehindATensorInstruction) {
  // One is read in cycle 3, the other in 7, and the last read is in the third cycle of an instruction.
  EXPECT_EQ(exit_time(test_config(), fadd_behind_hmma(20, 22).exit()), 5 + 1);
}

TEST(SmOperands, RegistersOfTwoBanksPass) {
  EXPECT_EQ(exit_time(test_config(), fadd_behind_hmma(20, 21).exit()), 2);
}

TEST(SmOperands, OthersPassATensorInstruction) {
  for (const trace::Opcode other : {FFMA, MUFU_EX2, UIADD3, NOP, BSSY}) {
    EXPECT_EQ(exit_time(test_config(), Program().op(HMMA_16816_F32).op(other).exit()), 2)
        << trace::info(other).name << " reads no register";
  }
}

TEST(SmOperands, AnXuInstructionPutsOffTheNextTensorInstruction) {
  hw::HwConfig config = test_config();
  config.sm.tensor.hmma_16816.interval_cycles = 6;
  for (const auto& [between, cycles] : {std::pair(NOP, 6), std::pair(MUFU_EX2, 7)}) {
    Program program;
    program.op(HMMA_16816_F32).op(between).op(HMMA_16816_F32).exit();
    EXPECT_EQ(exit_time(config, program), cycles + 1) << trace::info(between).name;
  }
}

TEST(SmOperands, WhatTheInstructionBeforeHasReadIsAtHand) {
  const auto second_of = [](std::uint16_t first) {
    Program program;
    program.op(FADD).reads(20).reads(22).op(FADD).reads(first).reads(24).exit();
    return exit_time(test_config(), program);
  };
  EXPECT_EQ(second_of(20), 2);
  EXPECT_EQ(second_of(26), 3);
  Program elsewhere;
  elsewhere.op(FADD).reads(20).reads(22).op(FADD).reads(22).reads(20).exit();
  EXPECT_EQ(exit_time(test_config(), elsewhere), 3) << "in the other place before: read again";
}

TEST(SmOperands, WhatTheInstructionBeforeHasWrittenIsReadAgain) {
  const auto second_of_sum = [](std::uint16_t written) {
    Program program;
    program.op(FADD).writes(written).reads(20).reads(22).op(FADD).reads(20).reads(24).exit();
    return exit_time(test_config(), program);
  };
  EXPECT_EQ(second_of_sum(30), 2);
  EXPECT_GT(second_of_sum(20), 2) << "a sum's next term: what was kept is old";
}

TEST(SmOperands, BanksAreAKeyOfTheGpu) {
  hw::HwConfig config = test_config();
  config.sm.operands.banks = 4;
  EXPECT_EQ(exit_time(config, fadd_behind_hmma(20, 22).exit()), 2);
}

TEST(SmOperands, StallCountsRunFromTheOperands) {
  EXPECT_EQ(exit_time(test_config(), fadd_behind_hmma(20, 22).stall(5).exit()), 5 + 5);
}

TEST(SmOperands, OtherWarpsCannotIssueWhileOneStands) {
  const trace::WarpProgram stands = fadd_behind_hmma(20, 22).exit().build();
  const trace::WarpProgram plain = Program("plain").op(NOP, 2).exit().build();
  // Slots 0 and 4 share a sub-core; the older CTA goes on as long as it can.
  trace::Launch launch = one_warp_each({stands, plain});
  launch.threads_per_cta = 32;
  launch.grid = {5, 1, 1};
  launch.classes = {{{0}, {}, {}}, {{1}, {}, {}}};
  launch.class_of_block[0] = {0, 1, 1, 1, 1};
  CoreBench bench(test_config(), launch, 5);
  bench.run();
  constexpr int kLeaves = 5;
  EXPECT_EQ(bench.end_of(1), 2) << "another sub-core";
  EXPECT_EQ(bench.end_of(0), kLeaves + 1);
  EXPECT_EQ(bench.end_of(4), kLeaves + 1 + 3);
  const auto stalls = bench.core().counters().stall_warp_cycles;
  EXPECT_EQ(stalls[static_cast<std::size_t>(metrics::Stall::dispatch_stall)], kLeaves - 1);
}

// Two shuffles for each product want the ports 8 cycles in 10: what comes while a product reads waits for it,
// and the sub-core's next one with it. Measured on an H100: 9.9 cycles instead of 8.
TEST(SmOperands, AProductPutsOffMemoryInstructions) {
  hw::HwConfig config = test_config();
  config.sm.tensor.hmma_16816.interval_cycles = 6;
  config.sm.shuffle.interval_cycles = 4;
  constexpr int kRounds = 40;
  const auto cycles_per_round = [&](trace::Opcode product) {
    Program program;
    for (int i = 0; i < kRounds; ++i) {
      program.op(product).op(SHFL_BFLY, 2);
    }
    return static_cast<double>(exit_time(config, program.exit())) / kRounds;
  };
  EXPECT_NEAR(cycles_per_round(NOP), 8, 0.5);
  EXPECT_NEAR(cycles_per_round(HMMA_16816_F32), 9.9, 0.7);
}

}  // namespace
}  // namespace warpscope::test
