// Issue interval and result latency of every pipe, to the cycle.
#include <gtest/gtest.h>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

struct Timing {
  trace::Opcode opcode;
  int interval;
  int latency;
};

std::vector<Timing> timings(const hw::Sm& sm) {
  const hw::TensorShape& big = sm.tensor.hmma_16816;
  const hw::TensorShape& small = sm.tensor.hmma_1688;
  return {
      {HMMA_16816_F32, big.interval_cycles, big.latency_cycles},
      {HMMA_16816_F32_BF16, big.interval_cycles, big.latency_cycles},
      {HMMA_1688_F32, small.interval_cycles, small.latency_cycles},
      {FFMA, 32 / sm.fma.lanes, sm.fma.latency_cycles},
      {HADD2, 32 / sm.fma.lanes, sm.fma.latency_cycles},
      {IMAD, 32 / sm.imad.lanes, sm.imad.latency_cycles},
      {FMNMX, 32 / sm.alu.lanes, sm.alu.latency_cycles},
      {F2FP_PACK_AB, 32 / sm.alu.lanes, sm.alu.latency_cycles},
      {CS2R, 32 / sm.alu.lanes, sm.alu.latency_cycles},
      {MUFU_EX2, 32 / sm.xu.lanes, sm.xu.latency_cycles},
      {UIADD3, 1, sm.issue.uniform_latency_cycles},
  };
}

TEST(SmPipe, DependentInstructionIssuesWhenTheResultIsThere) {
  const hw::HwConfig config = test_config();
  for (const Timing& timing : timings(config.sm)) {
    Program program;
    program.op(timing.opcode).writes(7).exit().reads(7);
    EXPECT_EQ(exit_time(config, program), timing.latency) << trace::info(timing.opcode).name;
  }
}

TEST(SmPipe, NextInstructionOfAPipeIssuesAfterItsInterval) {
  const hw::HwConfig config = test_config();
  for (const Timing& timing : timings(config.sm)) {
    for (int before = 1; before < 5; ++before) {
      Program program;
      program.op(timing.opcode, before).op(timing.opcode).exit();
      // One may wait in front of the XU.
      const bool xu = timing.opcode == MUFU_EX2;
      const int issue = !xu           ? before * timing.interval
                        : before == 1 ? 1
                                      : config.sm.xu.entry_cycles + (before - 1) * timing.interval;
      EXPECT_EQ(exit_time(config, program), issue + 1) << trace::info(timing.opcode).name;
    }
  }
}

// Whatever a description may say, also beyond the 255 that one byte holds.
TEST(SmPipe, LongTensorIntervalsAreKeptWhole) {
  for (const int cycles : {254, 255, 256, 257, 511, 512, 1000}) {
    hw::HwConfig config = test_config();
    config.sm.tensor.hmma_16816 = {cycles, 33, 6};
    config.sm.tensor.hmma_1688 = {cycles, 18, 4};
    EXPECT_EQ(exit_time(config, Program().op(HMMA_16816_F32, 3).exit()), 2 * cycles + 1);
    EXPECT_EQ(exit_time(config, Program().op(HMMA_1688_F32, 3).exit()), 2 * cycles + 1);
  }
}

TEST(SmPipe, OtherPipesStayFree) {
  const hw::HwConfig config = test_config();
  const std::vector<trace::Opcode> one_per_pipe = {MUFU_EX2, FMNMX, IMAD, UIADD3, NOP};
  for (const trace::Opcode first : one_per_pipe) {
    for (const trace::Opcode second : one_per_pipe) {
      if (first != second) {
        Program program;
        program.op(first).op(second).exit();
        EXPECT_EQ(exit_time(config, program), 2) << trace::info(first).name << trace::info(second).name;
      }
    }
  }
}

TEST(SmPipe, FmaAndImadShareOnePipe) {
  const hw::HwConfig config = test_config();
  Program after_imad;
  after_imad.op(IMAD).op(FFMA).exit();
  EXPECT_EQ(exit_time(config, after_imad), 32 / config.sm.imad.lanes + 1);
  Program after_fma;
  after_fma.op(FFMA).op(IMAD).exit();
  EXPECT_EQ(exit_time(config, after_fma), 32 / config.sm.fma.lanes + 1);
}

TEST(SmPipe, BothTensorShapesShareOnePipe) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(HMMA_1688_F32).op(HMMA_16816_F32).op(HMMA_1688_F32).exit();
  EXPECT_EQ(exit_time(config, program),
            config.sm.tensor.hmma_1688.interval_cycles + config.sm.tensor.hmma_16816.interval_cycles + 1);
}

TEST(SmPipe, InstructionsFitIntoTheGapsOfTheTensorPipe) {
  const hw::HwConfig config = test_config();
  const int interval = config.sm.tensor.hmma_16816.interval_cycles;
  const int gap = interval - 1;
  Program fits;
  fits.op(HMMA_16816_F32).op(NOP, gap).op(HMMA_16816_F32).op(NOP, gap).exit();
  EXPECT_EQ(exit_time(config, fits), 2 * interval);
  Program one_too_many;
  one_too_many.op(HMMA_16816_F32).op(NOP, gap + 1).op(HMMA_16816_F32).op(NOP, gap).exit();
  EXPECT_EQ(exit_time(config, one_too_many), 2 * interval + 1);
}

TEST(SmPipe, EverySubCoreHasItsOwnPipes) {
  const hw::HwConfig config = test_config();
  const int interval = 32 / config.sm.alu.lanes;
  Program program;
  program.op(FMNMX, 3).exit();
  EXPECT_EQ(exit_time(config, program, 1), 2 * interval + 1);
  EXPECT_EQ(exit_time(config, program, 4), 2 * interval + 1);
  // The fifth warp shares a sub-core with the first: three more instructions through the same pipe.
  EXPECT_EQ(exit_time(config, program, 5), 5 * interval + 1);
}

}  // namespace
}  // namespace warpscope::test
