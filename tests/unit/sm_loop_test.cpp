// Loops of warp programs: how often, in which order, and what the closing branch costs.
#include <gtest/gtest.h>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

TEST(SmLoop, TakenBranchCostsAndTheLastOneDoesNot) {
  const hw::HwConfig config = test_config();
  for (std::uint32_t trips = 1; trips < 6; ++trips) {
    Program program;
    program.begin_loop(0).op(NOP, 3).end_loop().exit();
    const auto t = static_cast<std::int64_t>(trips);
    EXPECT_EQ(exit_time(config, program, 1, {trips}), 4 * t + (t - 1) * config.sm.issue.branch_cycles);
  }
}

TEST(SmLoop, NoTripsSkipTheBody) {
  Program program;
  program.op(NOP, 2).begin_loop(0).op(MUFU_EX2, 3).end_loop().op(NOP).exit();
  CoreBench bench(test_config(), one_program(program.build(), 1, 1, {0}));
  EXPECT_EQ(bench.run(), 3);
  EXPECT_EQ(bench.issued(MUFU_EX2), 0U);
  EXPECT_EQ(bench.issued(BRA), 0U);
}

TEST(SmLoop, NoTripsAtTheFirstInstructionOfAProgram) {
  Program program;
  program.begin_loop(0).begin_loop(1).op(FFMA).end_loop().op(FMNMX).end_loop().exit();
  CoreBench inner_skipped(test_config(), one_program(program.build(), 1, 1, {3, 0}));
  inner_skipped.run();
  EXPECT_EQ(inner_skipped.issued(FFMA), 0U);
  EXPECT_EQ(inner_skipped.issued(FMNMX), 3U);
  CoreBench outer_skipped(test_config(), one_program(program.build(), 1, 1, {0, 3}));
  EXPECT_EQ(outer_skipped.run(), 0);
  EXPECT_EQ(outer_skipped.issued(FFMA) + outer_skipped.issued(FMNMX), 0U);
}

TEST(SmLoop, ThreeLevelsMultiply) {
  Program program;
  program.begin_loop(0)
      .op(FADD)
      .begin_loop(1)
      .op(FMUL)
      .begin_loop(2)
      .op(FFMA)
      .end_loop()
      .end_loop()
      .end_loop();
  program.exit();
  CoreBench bench(test_config(), one_program(program.build(), 2, 1, {3, 4, 5}));
  bench.run();
  EXPECT_EQ(bench.issued(FADD), 2U * 3);
  EXPECT_EQ(bench.issued(FMUL), 2U * 3 * 4);
  EXPECT_EQ(bench.issued(FFMA), 2U * 3 * 4 * 5);
  EXPECT_EQ(bench.issued(BRA), 2U * (3 + 3 * 4 + 3 * 4 * 5));
  EXPECT_EQ(bench.issued(EXIT), 2U);
}

TEST(SmLoop, LoopsBehindOneAnotherStartAnew) {
  Program program;
  program.begin_loop(0).begin_loop(1).op(FFMA).end_loop().begin_loop(2).op(FMUL).end_loop().end_loop().exit();
  CoreBench bench(test_config(), one_program(program.build(), 1, 1, {2, 3, 4}));
  bench.run();
  EXPECT_EQ(bench.issued(FFMA), 6U);
  EXPECT_EQ(bench.issued(FMUL), 8U);
}

TEST(SmLoop, TripsMayFollowTheOuterIteration) {
  Program growing;
  growing.begin_loop(0).begin_loop(1, {2, 0, 0}).op(FFMA).end_loop().op(NOP).end_loop().exit();
  CoreBench up(test_config(), one_program(growing.build(), 1, 1, {4, 1}));
  up.run();
  EXPECT_EQ(up.issued(FFMA), 1U + 3 + 5 + 7);
  Program shrinking;
  shrinking.begin_loop(0).begin_loop(1, {-2, 0, 0}).op(FFMA).end_loop().op(NOP).end_loop().exit();
  CoreBench down(test_config(), one_program(shrinking.build(), 1, 1, {5, 5}));
  down.run();
  EXPECT_EQ(down.issued(FFMA), 5U + 3 + 1 + 0 + 0) << "never below zero";
}

TEST(SmLoop, AddressesFollowTheIterationsBlockAndWarp) {
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 128;
  operand.offset.offset = 1'000'000;
  operand.offset.per_iteration = {10'000, 100, 0};
  operand.offset.per_warp = 7;
  operand.offset.per_block = {500'000, 0, 0};
  operand.segment.offset = 2;
  Program program;
  program.begin_loop(0).begin_loop(1).op(LDG_32).memory(operand).end_loop().end_loop().exit();
  CoreBench bench(test_config(), one_program(program.build(), 2, 2, {2, 3}), 2, {tensor("t", 1 << 30, 4)});
  bench.run();
  std::vector<std::int64_t> expected;
  for (const std::int64_t block : {0, 1}) {
    for (const std::int64_t warp : {0, 1}) {
      for (const std::int64_t outer : {0, 1}) {
        for (const std::int64_t inner : {0, 1, 2}) {
          expected.push_back(1'000'000 + 500'000 * block + 7 * warp + 10'000 * outer + 100 * inner);
        }
      }
    }
  }
  std::ranges::sort(expected);
  std::vector<std::int64_t> got;
  for (const CoreBench::Access& access : bench.accesses()) {
    got.push_back(access.request.offset);
    EXPECT_EQ(access.request.segment, 2);
  }
  std::ranges::sort(got);
  EXPECT_EQ(got, expected);
}

TEST(SmLoop, BlockDivisorAndSymbolChooseTheSegment) {
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 128;
  operand.segment.per_block = {1, 0, 0};
  operand.segment.block_divisor = {4, 1, 1};
  operand.offset.symbol = 1;
  operand.offset.per_symbol = 256;
  trace::Launch launch = one_program(Program().op(LDG_32).memory(operand).exit().build(), 1, 6);
  launch.classes[0].symbols = {99, 5};
  CoreBench bench(test_config(), launch, 6, {tensor("t", 1 << 20, 2)});
  bench.run();
  ASSERT_EQ(bench.accesses().size(), 6U);
  int in_second = 0;
  for (const CoreBench::Access& access : bench.accesses()) {
    EXPECT_EQ(access.request.offset, 5 * 256);
    in_second += access.request.segment == 1 ? 1 : 0;
  }
  EXPECT_EQ(in_second, 2) << "blocks 4 and 5";
}

// A CTA whose loops lie 3 * 2^30 cycles back, as one that waits for others may.
TEST(SmLoop, TheLastIterationLiesInThePastForEver) {
  CoreBench bench(test_config(), one_program(Program().op(BAR_SYNC).exit().build(), 1));
  for (int i = 0; i < 3 << 10; ++i) {
    bench.core().move_origin(1 << 20);
    ASSERT_LE(bench.core().loop_head(0).time, 0) << i;
  }
}

}  // namespace
}  // namespace warpscope::test
