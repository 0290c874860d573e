// Instruction fetch: lines of eight instructions, each a while away.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

constexpr int kPerLine = 8;  ///< instructions of 16 bytes
constexpr int kWays = sm::kInstructionWays;

hw::HwConfig fetch_config(int fill_cycles, int prefetch_lines) {
  hw::HwConfig config = test_config();
  config.sm.icache.line_bytes = 128;
  config.sm.icache.l1_fill_cycles = fill_cycles;
  config.sm.icache.l1_line_cycles = fill_cycles;
  config.sm.icache.prefetch_lines = prefetch_lines;
  return config;
}

/// Whole lines of NOPs, the exit in the next one.
Program straight(int lines) {
  Program program;
  program.op(NOP, lines * kPerLine).exit();
  return program;
}

TEST(SmFetch, FirstInstructionWaitsForItsLine) {
  const hw::HwConfig config = fetch_config(20, 0);
  CoreBench bench(config, one_program(Program().exit().build()));
  EXPECT_EQ(bench.run(), 0) << "the bench counts from the arrival of the first line";
  EXPECT_EQ(bench.stalled(metrics::Stall::no_instruction), 20U);
}

TEST(SmFetch, WithoutPrefetchEveryNewLineIsWaitedFor) {
  const hw::HwConfig config = fetch_config(20, 0);
  for (int lines = 1; lines < 6; ++lines) {
    // Asked for when the last instruction of the line before issues.
    EXPECT_EQ(exit_time(config, straight(lines)), lines * (kPerLine - 1 + 20));
  }
}

TEST(SmFetch, PrefetchStreamsAtTheRateOfFills) {
  for (const int ahead : {1, 2, 4}) {
    const hw::HwConfig config = fetch_config(20, ahead);
    for (int lines = 1; lines < 12; ++lines) {
      EXPECT_EQ(exit_time(config, straight(lines)), 20 * lines) << ahead << " " << lines;
    }
  }
}

TEST(SmFetch, PrefetchHidesFillsThatAreFasterThanIssue) {
  for (const int ahead : {1, 3}) {
    for (int lines = 1; lines < 12; ++lines) {
      EXPECT_EQ(exit_time(fetch_config(kPerLine, ahead), straight(lines)), kPerLine * lines);
      EXPECT_EQ(exit_time(fetch_config(3, ahead), straight(lines)), kPerLine * lines);
    }
  }
}

TEST(SmFetch, AJumpLeavesLinesOutAndBreaksTheStream) {
  const hw::HwConfig config = fetch_config(20, 1);
  const auto jump = [&](std::uint16_t over) {
    return exit_time(config,
                     Program().op(NOP, kPerLine - 1).op(BRA).immediate(over).op(NOP, kPerLine).exit());
  };
  // A line comes every 20 cycles: without a jump two more, with one another that was asked for in vain.
  EXPECT_EQ(jump(0), 2 * 20);
  EXPECT_EQ(jump(2 * kPerLine), 3 * 20);
}

TEST(SmFetch, LoopWithinReachPaysOnce) {
  const hw::HwConfig config = fetch_config(20, 0);
  const int branch = config.sm.issue.branch_cycles;
  Program program;
  program.begin_loop(0).op(NOP, 2 * kPerLine - 1).end_loop().exit();
  const int first = kPerLine - 1 + 20 + kPerLine - 1;
  for (std::uint32_t trips = 1; trips < 6; ++trips) {
    EXPECT_EQ(exit_time(config, program, 1, {trips}),
              first + static_cast<int>(trips - 1) * (2 * kPerLine + branch) + 20);
  }
}

TEST(SmFetch, LoopBeyondReachPaysEveryTime) {
  hw::HwConfig config = fetch_config(20, 0);
  const int branch = config.sm.issue.branch_cycles;
  Program program;
  program.begin_loop(0).op(NOP, 10 * kPerLine - 1).end_loop().exit();
  const int first = 10 * (kPerLine - 1) + 9 * 20;
  config.sm.icache.l0_bytes = 16 * 128;
  EXPECT_EQ(exit_time(config, program, 1, {4}), first + 3 * (10 * kPerLine + branch) + 20);
  config.sm.icache.l0_bytes = 8 * 128;
  EXPECT_EQ(exit_time(config, program, 1, {4}), first + 3 * 10 * (kPerLine - 1 + 20) + 20);
}

TEST(SmFetch, EveryLegalReachIsKeptWhole) {
  hw::HwConfig config = fetch_config(20, 0);
  config.sm.icache.l1_bytes = 1 << 20;
  const int branch = config.sm.issue.branch_cycles;
  for (const int lines : {255, 256, 257, 300, 512, 1000, 1023, 1024}) {
    SCOPED_TRACE(lines);
    Program program;
    program.begin_loop(0).op(NOP, lines * kPerLine - 1).end_loop().exit();
    const int first = lines * (kPerLine - 1) + (lines - 1) * 20;
    config.sm.icache.l0_bytes = (lines + kWays - 1) / kWays * kWays * 128;
    EXPECT_EQ(exit_time(config, program, 1, {4}), first + 3 * (lines * kPerLine + branch) + 20);
    // With half the room every line has gone before the loop comes back to it.
    config.sm.icache.l0_bytes = lines / kWays / 2 * kWays * 128;
    EXPECT_EQ(exit_time(config, program, 1, {4}), first + 3 * lines * (kPerLine - 1 + 20) + 20);
  }
}

TEST(SmFetch, ShortCodeNeedsNoMoreSetsThanItFills) {
  EXPECT_EQ(sm::InstructionLines(1024, 1).sets(), 1U);
  EXPECT_EQ(sm::InstructionLines(1024, 8).sets(), 1U);
  EXPECT_EQ(sm::InstructionLines(1024, 9).sets(), 2U);
  EXPECT_EQ(sm::InstructionLines(1024, 17).sets(), 4U) << "a power of two, for a quick remainder";
  EXPECT_EQ(sm::InstructionLines(1024, 1024).sets(), 128U);
  EXPECT_EQ(sm::InstructionLines(1024, 60000).sets(), 128U);
  EXPECT_EQ(sm::InstructionLines(24, 17).sets(), 3U);
  EXPECT_EQ(sm::InstructionLines(4, 17).sets(), 1U);
}

// A loop of ten lines, in eight of which the sub-cores reach.
Program far_loop() {
  Program program;
  program.begin_loop(0).op(NOP, 10 * kPerLine - 1).end_loop().exit();
  return program;
}

hw::HwConfig two_levels(int l1_lines) {
  hw::HwConfig config = fetch_config(20, 0);
  config.sm.icache.l2_fill_cycles = 34;
  config.sm.icache.l0_bytes = 8 * 128;
  config.sm.icache.l1_bytes = l1_lines * 128;
  return config;
}

/// Cycles of one more round of the program's loop.
std::int64_t round_cycles(int l1_lines, const Program& program) {
  return exit_time(two_levels(l1_lines), program, 1, {5}) - exit_time(two_levels(l1_lines), program, 1, {4});
}

TEST(SmFetch, CodeBeyondTheNextLevelComesFromTheL2) {
  EXPECT_EQ(round_cycles(16, far_loop()), 10 * (kPerLine - 1 + 20));
  EXPECT_EQ(round_cycles(8, far_loop()), 10 * (kPerLine - 1 + 34));
}

// However much code there is besides: what runs once takes no place for long.
TEST(SmFetch, ALoopThatFitsIsNotSlowerInLongCode) {
  Program program;
  program.op(NOP, 40 * kPerLine).begin_loop(0).op(NOP, 10 * kPerLine - 1).end_loop().exit();
  EXPECT_EQ(round_cycles(16, program), 10 * (kPerLine - 1 + 20));
}

TEST(SmFetch, ALaunchFindsWhatOneOfTheSameCodeHasLeft) {
  EXPECT_EQ(exit_time(two_levels(16), straight(15)), 15 * (kPerLine - 1 + 20));
  // The lines that come last have driven out those that come first, and these drive them out in turn. The
  // bench counts from when a line of the next level would be there.
  EXPECT_EQ(exit_time(two_levels(16), straight(31)), 31 * (kPerLine - 1 + 34) + 34 - 20);
}

/// The end of three warps, each with a program of one line of its own.
std::int64_t three_programs(const hw::HwConfig& config) {
  std::vector<trace::WarpProgram> programs(3, Program().op(NOP, kPerLine - 1).exit().build());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    programs[i].code[0].immediate = static_cast<std::uint16_t>(i);  // equal ones would be one text
  }
  CoreBench bench(config, one_warp_each(std::move(programs)));
  return bench.run();
}

TEST(SmFetch, WarpsShareLinesAndThePathTheyComeBy) {
  const hw::HwConfig config = fetch_config(20, 0);
  EXPECT_EQ(exit_time(config, straight(3), 4), exit_time(config, straight(3), 1));
  EXPECT_EQ(three_programs(config), 2 * 20 + kPerLine - 1)
      << "the third program's line comes behind two others";
}

TEST(SmFetch, LinesFollowEachOtherSoonerThanTheFirstArrives) {
  hw::HwConfig config = fetch_config(20, 0);
  config.sm.icache.l1_line_cycles = 4;
  EXPECT_EQ(three_programs(config), 2 * 4 + kPerLine - 1);
}

TEST(SmFetch, NextLineIsAskedForWhenThisOneHasCome) {
  hw::HwConfig config = fetch_config(20, 1);
  config.sm.icache.l1_line_cycles = 4;
  for (int lines = 1; lines < 12; ++lines) {
    EXPECT_EQ(exit_time(config, straight(lines)), 20 * lines);
  }
}

TEST(SmFetch, NobodyWaitsForALineThatIsAskedForLater) {
  // The first warp asks for the lines of the others when its own has come; they need them at once.
  hw::HwConfig config = fetch_config(20, 2);
  config.sm.icache.l1_line_cycles = 4;
  EXPECT_EQ(three_programs(config), 2 * 4 + kPerLine - 1);
}

/// When a second line arrives that comes as `supply` says; counts from the arrival of a first in the next
/// level.
std::int64_t second_line(const hw::HwConfig& config, const sm::CodeSupply& supply,
                         std::vector<sm::LineRequest>* asked = nullptr) {
  CoreBench bench(config, one_program(straight(1).build()));
  bench.core().set_code_supply(&supply, 1000);
  const std::int64_t end = bench.run();
  if (asked != nullptr) {
    *asked = bench.core().asked_lines();
  }
  return end;
}

TEST(SmFetch, OtherSmsTakeThePath) {
  hw::HwConfig config = fetch_config(20, 0);
  config.sm.icache.l1_line_cycles = 4;
  std::vector<sm::LineRequest> asked;
  EXPECT_EQ(second_line(config, {.path_free = 0, .in_l2 = {0, 0}}), kPerLine - 1 + 20);
  EXPECT_EQ(second_line(config, {.path_free = 1050, .in_l2 = {0, 0}}, &asked), 50 + 16 - 20);
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].time, 20 + kPerLine - 1);
  EXPECT_EQ(asked[0].arrival, 50 + 16);
  EXPECT_EQ(asked[0].line, 1U);
  EXPECT_FALSE(asked[0].from_memory);
}

TEST(SmFetch, CodeThatIsNotPreloadedComesFromTheL2OrTheMemory) {
  hw::HwConfig config = two_levels(16);
  config.sm.icache.preloaded_bytes = 128;
  config.sm.icache.memory_fill_cycles = 100;
  const int asked_at = 20 + kPerLine - 1;
  std::vector<sm::LineRequest> asked;
  EXPECT_EQ(second_line(config, {.path_free = 0, .in_l2 = {0, 1000 + asked_at}}, &asked), kPerLine - 1 + 34);
  EXPECT_FALSE(asked[0].from_memory);
  EXPECT_EQ(second_line(config, {.path_free = 0, .in_l2 = {0, 1001 + asked_at}}, &asked), kPerLine - 1 + 100);
  EXPECT_TRUE(asked[0].from_memory);
  config.sm.icache.preloaded_bytes = 256;
  EXPECT_EQ(second_line(config, {.path_free = 0, .in_l2 = {0, 2000}}), kPerLine - 1 + 20);
}

TEST(SmFetch, NothingIsFetchedBehindTheEnd) {
  // A program of exactly one line leaves the path free for another one's first line... of the same launch.
  const hw::HwConfig config = fetch_config(20, 4);
  CoreBench bench(config, one_program(Program().op(NOP, kPerLine - 1).exit().build()));
  bench.run();
  EXPECT_EQ(bench.core().near_lines().held(), 1);
}

}  // namespace
}  // namespace warpscope::test
