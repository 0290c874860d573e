// Products of warpgroups on one SM: who takes the tensor pipes how long, and what waits for whom.
#include <gtest/gtest.h>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

constexpr int kLatency = 31;

hw::HwConfig wgmma_config() {
  hw::HwConfig config = test_config();
  config.sm.tensor.wgmma = {.flops_per_clk = 1024, .latency_cycles = kLatency};
  return config;
}

/// `groups` groups of `products` m64n128k16, then a wait for all but `pending`.
Program products(int groups, int products, std::uint16_t pending) {
  Program program;
  for (int group = 0; group < groups; ++group) {
    for (int i = 0; i < products; ++i) {
      program.op(HGMMA_64X128X16_F32).shared(1536, 12).immediate(i + 1 == products ? 1 : 0);
    }
  }
  return program.op(WARPGROUP_DEPBAR_LE).immediate(pending).exit();
}

TEST(SmWgmma, AGroupTakesHalfItsColumnsForEachProductAndTheLatencyOnce) {
  const hw::HwConfig config = wgmma_config();
  EXPECT_EQ(exit_time(config, products(1, 1, 0), 4), 64 + kLatency + 1);
  EXPECT_EQ(exit_time(config, products(1, 8, 0), 4), 8 * 64 + kLatency + 1);
  for (const auto& [opcode, cycles] : {std::pair{HGMMA_64X64X16_F32, 32}, std::pair{HGMMA_64X176X16_F32, 88},
                                       std::pair{HGMMA_64X256X16_F32, 128}}) {
    Program program;
    program.op(opcode).immediate(1).op(WARPGROUP_DEPBAR_LE).exit();
    EXPECT_EQ(exit_time(config, program, 4), cycles + kLatency + 1);
  }
}

TEST(SmWgmma, TwoWarpgroupsShareTheTensorPipes) {
  const hw::HwConfig config = wgmma_config();
  // The second warp of each sub-core starts a cycle later and finds the pipe taken; one EXIT is behind
  // another.
  CoreBench bench(config, one_program(products(1, 8, 0).build(), 8));
  EXPECT_EQ(bench.run(), 16 * 64 + kLatency + 1);
  EXPECT_EQ(bench.core().counters().pipe_busy_cycles[static_cast<std::size_t>(sm::PipeSlot::tensor)],
            4 * 16 * 64);
}

TEST(SmWgmma, AWaitLeavesTheYoungestGroups) {
  const hw::HwConfig config = wgmma_config();
  for (std::uint16_t pending = 0; pending < 3; ++pending) {
    EXPECT_EQ(exit_time(config, products(3, 2, pending), 4), (3 - pending) * 2 * 64 + kLatency + 1);
  }
  EXPECT_EQ(exit_time(config, products(3, 2, 3), 4), 7);  // six products, the wait, the exit
}

TEST(SmWgmma, IssueDoesNotWaitForThePipe) {
  const hw::HwConfig config = wgmma_config();
  Program program;
  program.op(HGMMA_64X256X16_F32, 4).exit();
  EXPECT_EQ(exit_time(config, program, 4), 4);
}

TEST(SmWgmma, OperandsInSharedMemoryTakeItsDataPath) {
  const hw::HwConfig config = wgmma_config();
  CoreBench bench(config, one_program(products(1, 8, 0).build(), 4));
  bench.run();
  EXPECT_EQ(bench.core().counters().data_path_cycles, 4 * 8 * 12);
}

TEST(SmWgmma, AGpuWithoutItRefusesTheLaunch) {
  EXPECT_THROW(CoreBench(test_config(), one_program(products(1, 1, 0).build(), 4)), std::invalid_argument);
}

}  // namespace
}  // namespace warpscope::test
