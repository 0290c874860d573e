// Which warp issues, and what registers and control bits make it wait for.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <vector>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

/// Single-warp CTAs that share sub-core 0 with slot 0: slots 0, 4, 8, ... run programs 0, 1, 2, ...; the
/// other sub-cores have nothing to do.
class SubCoreBench {
 public:
  explicit SubCoreBench(const std::vector<trace::WarpProgram>& programs)
      : bench_(test_config(), launch_of(programs), static_cast<int>(4 * programs.size())) {
    bench_.run();
  }
  std::int64_t end_of(int program) const { return bench_.end_of(4 * program); }

 private:
  static trace::Launch launch_of(const std::vector<trace::WarpProgram>& programs) {
    trace::Launch launch = one_warp_each(programs);
    launch.threads_per_cta = 32;
    launch.grid[0] = static_cast<std::uint32_t>(4 * programs.size());
    launch.programs.push_back(Program("idle").exit().build());
    const auto idle = static_cast<std::uint16_t>(programs.size());
    launch.classes.clear();
    for (std::uint16_t i = 0; i <= idle; ++i) {
      launch.classes.push_back({{i}, {}, {}});
    }
    for (std::uint32_t slot = 0; slot < launch.grid[0]; ++slot) {
      launch.class_of_block[0].push_back(slot % 4 == 0 ? slot / 4 : idle);
    }
    return launch;
  }

  CoreBench bench_;
};

TEST(SmIssue, WarpThatCanGoOnGoesOn) {
  const trace::WarpProgram program = Program().op(NOP, 10).exit().build();
  const SubCoreBench bench({program, program});
  EXPECT_EQ(bench.end_of(0), 10);
  EXPECT_EQ(bench.end_of(1), 21);
}

TEST(SmIssue, YoungerWarpKeepsTheSlotWhenAnOlderOneGetsReady) {
  const SubCoreBench bench({Program().op(NOP).stall(3).exit().build(), Program().op(NOP, 6).exit().build()});
  EXPECT_EQ(bench.end_of(1), 7) << "issues in cycles 1 to 7 without a break";
  EXPECT_EQ(bench.end_of(0), 8) << "could issue from cycle 3 on";
}

TEST(SmIssue, OldestReadyWarpIsNextWhenTheLastOneStalls) {
  const trace::WarpProgram program = Program().op(NOP).stall(2).exit().build();
  const SubCoreBench bench({program, program, program});
  // 0: A, 1: B, 2: A (older than C), 3: B, 4: C, 6: C.
  EXPECT_EQ(bench.end_of(0), 2);
  EXPECT_EQ(bench.end_of(1), 3);
  EXPECT_EQ(bench.end_of(2), 6);
}

// Measured: issue_turns.csv, CLOCK:7 beside CLOCK:5.
TEST(SmIssue, LastWarpComesFirstAlsoBehindAGap) {
  const SubCoreBench bench(
      {Program().op(NOP).stall(7).exit().build(), Program().op(NOP).stall(6).exit().build()});
  EXPECT_EQ(bench.end_of(1), 7);
  EXPECT_EQ(bench.end_of(0), 8) << "could issue in cycle 7, too";
}

// Measured: issue_turns.csv, HMMA.a:4 CLOCK:5 beside HMMA.a:4 CLOCK:2.
TEST(SmIssue, OldestWarpComesFirstAtTheTensorPipe) {
  const auto interval = static_cast<std::uint8_t>(test_config().sm.tensor.hmma_16816.interval_cycles);
  const auto gap = static_cast<std::uint8_t>(interval + 1);
  const SubCoreBench bench(
      {Program().op(HMMA_16816_F32).stall(gap).op(HMMA_16816_F32).stall(1).exit().build(),
       Program().op(HMMA_16816_F32).stall(interval).op(HMMA_16816_F32).stall(1).exit().build()});
  EXPECT_EQ(bench.end_of(0), 2 * interval + 1) << "behind the first one of the younger warp";
  EXPECT_EQ(bench.end_of(1), 3 * interval + 1);
}

// Measured: pair_bursts.csv, two CTAs that copy at once.
TEST(SmIssue, WarpsThatWaitForRoomInTheQueueTakeTurns) {
  constexpr int kLoads = 64;
  Program program;
  for (int i = 0; i < kLoads; ++i) {
    program.op(LDS_128).shared(512, 4).stall(1);
  }
  const trace::WarpProgram loads = program.exit().build();
  const SubCoreBench alone({loads});
  const SubCoreBench both({loads, loads});
  EXPECT_GT(both.end_of(1), alone.end_of(0) * 19 / 10) << "the queue is full nearly all of the time";
  EXPECT_LT(both.end_of(1) - both.end_of(0), both.end_of(1) / 8);
}

/// When the older of two warps ends whose HMMA waits for the MUFU in front of it, with `between` NOPs of one
/// cycle behind that, beside HMMAs of the younger one that are `apart` cycles apart; and when that one ends.
/// `others` more warps issue something now and then.
std::array<std::int64_t, 2> ends_beside_products(int between, int apart, int others = 0) {
  Program older;
  older.op(MUFU_EX2).stall(2).sets(1);
  for (int i = 0; i < between; ++i) {
    older.op(NOP).stall(1);
  }
  older.op(HMMA_16816_F32).stall(1).waits_for(1).exit();
  Program younger;
  for (int i = 0; i < 20; ++i) {
    younger.op(HMMA_16816_F32).stall(static_cast<std::uint8_t>(apart));
  }
  std::vector<trace::WarpProgram> programs = {older.build(), younger.exit().build()};
  for (int i = 0; i < others; ++i) {
    Program other;
    for (int nop = 0; nop < 20; ++nop) {
      other.op(NOP).stall(static_cast<std::uint8_t>(5 + i));
    }
    programs.push_back(other.exit().build());
  }
  const SubCoreBench bench(programs);
  return {bench.end_of(0), bench.end_of(1)};
}

// Measured: scoreboard_waits.csv.
TEST(SmIssue, WhoseScoreboardWasSetComesBehindAllOthersAtTheTensorPipe) {
  const int interval = test_config().sm.tensor.hmma_16816.interval_cycles;
  const int result = test_config().sm.xu.latency_cycles;
  const auto [held_back, beside] = ends_beside_products(1, interval);
  EXPECT_GT(held_back, 20 * interval) << "until the other warp's last";
  EXPECT_LE(beside, 20 * interval + 2);
  EXPECT_GT(ends_beside_products(1, interval, 4)[0], 20 * interval) << "with more warps, too";
  EXPECT_LT(ends_beside_products(1, interval + 1)[0], result + 3 * interval) << "in the first gap";
  EXPECT_LT(ends_beside_products(result, interval)[0], result + 3 * interval)
      << "the result is there as the last NOP issues";
  EXPECT_LT(ends_beside_products(0, interval)[0], result + 3 * interval)
      << "nothing has looked at the scoreboard while it was set";
}

TEST(SmIssue, StallCountsDoNotRunWhileAnInstructionStands) {
  // The FADD reads two registers of a bank behind an HMMA: it stands from cycle 2 to 6.
  const trace::WarpProgram stands =
      Program().op(HMMA_16816_F32).stall(1).op(FADD).reads(20).reads(22).stall(1).exit().build();
  const SubCoreBench bench({Program().op(NOP).stall(9).exit().build(), stands});
  EXPECT_EQ(bench.end_of(1), 7);
  EXPECT_EQ(bench.end_of(0), 9 + 4);
}

/// Instructions that warps 0 and 4, which share a sub-core, have issued after 400 cycles: exponentials with
/// the stall count that compilers give them.
std::array<std::uint32_t, 2> exponentials(std::uint32_t warps_per_cta, int ctas) {
  Program program;
  for (int i = 0; i < 100; ++i) {
    program.op(MUFU_EX2).stall(8);
  }
  CoreBench bench(test_config(), one_program(program.exit().build(), warps_per_cta), ctas);
  std::vector<sm::Completion> completions;
  bench.core().run_until(400, completions);
  return {bench.core().state().warps[0].pc, bench.core().state().warps[4].pc};
}

TEST(SmIssue, WarpsOfACtaTakeTurns) {
  const auto [first, second] = exponentials(8, 1);
  EXPECT_GT(first, 10U);
  EXPECT_NEAR(first, second, 1);
}

TEST(SmIssue, OlderCtaComesFirst) {
  const auto [older, younger] = exponentials(4, 2);
  EXPECT_GT(older, 10U);
  EXPECT_LT(younger, older / 4);
}

TEST(SmIssue, SubCoresIssueInTheSameCycle) {
  Program program;
  program.op(NOP, 9).exit();
  EXPECT_EQ(exit_time(test_config(), program, 4), 9);
  EXPECT_EQ(exit_time(test_config(), program, 8), 19);
}

TEST(SmScoreboard, WriteAfterWriteWaitsForTheFirstResult) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(MUFU_EX2).writes(3).op(FFMA).writes(3).exit();
  EXPECT_EQ(exit_time(config, program), config.sm.xu.latency_cycles + 1);
}

TEST(SmScoreboard, OtherRegistersDoNotWait) {
  Program program;
  program.op(MUFU_EX2).writes(3).op(FFMA).writes(4).reads(2).exit().reads(5);
  EXPECT_EQ(exit_time(test_config(), program), 2);
}

TEST(SmScoreboard, WriteAfterReadDoesNotWaitInOrder) {
  Program program;
  program.op(MUFU_EX2).writes(3).reads(4).op(FFMA).writes(4).exit();
  EXPECT_EQ(exit_time(test_config(), program), 2);
}

TEST(SmScoreboard, EveryRegisterOfARangeCounts) {
  const hw::HwConfig config = test_config();
  const int latency = config.sm.tensor.hmma_16816.latency_cycles;
  for (std::uint16_t read = 6; read < 14; ++read) {
    Program program;
    program.op(HMMA_16816_F32).writes(8, 4).exit().reads(read);
    EXPECT_EQ(exit_time(config, program), read >= 8 && read < 12 ? latency : 1) << read;
  }
  Program overlapping;
  overlapping.op(HMMA_16816_F32).writes(8, 4).exit().reads(5, 4);
  EXPECT_EQ(exit_time(config, overlapping), latency);
}

TEST(SmScoreboard, PredicatesAreRegistersToo) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(FSETP).writes(trace::kFirstPredicate + 2).exit().reads(trace::kFirstPredicate + 2);
  EXPECT_EQ(exit_time(config, program), config.sm.alu.latency_cycles);
}

TEST(SmScoreboard, WarpsDoNotShareRegisters) {
  const SubCoreBench bench(
      {Program().op(MUFU_EX2).writes(3).exit().build(), Program().exit().reads(3).build()});
  EXPECT_EQ(bench.end_of(1), 2) << "behind the exit of the first, which is not held up either";
}

TEST(SmControlBits, StallCountDelaysTheWarp) {
  for (std::uint8_t cycles = 1; cycles < 16; ++cycles) {
    Program program;
    program.op(NOP).stall(cycles).exit();
    EXPECT_EQ(exit_time(test_config(), program), cycles);
  }
}

TEST(SmControlBits, ReplaceTheRegisterScoreboard) {
  Program program;
  program.op(MUFU_EX2).writes(3).stall(1).exit().reads(3).stall(1);
  EXPECT_EQ(exit_time(test_config(), program), 1);
}

TEST(SmControlBits, InstructionWithoutThemStillSeesResultsOfThoseWith) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(MUFU_EX2).writes(3).stall(1).exit().reads(3);
  EXPECT_EQ(exit_time(config, program), config.sm.xu.latency_cycles);
}

TEST(SmControlBits, WaitMaskWaitsForTheScoreboardsItNames) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(MUFU_EX2).sets(0).op(UIADD3).sets(4);
  Program for_first = program;
  for_first.exit().waits_for(0);
  EXPECT_EQ(exit_time(config, for_first), config.sm.xu.latency_cycles);
  Program for_second = program;
  for_second.exit().waits_for(4);
  EXPECT_EQ(exit_time(config, for_second), 1 + config.sm.issue.uniform_latency_cycles);
  Program for_both = program;
  for_both.exit().waits_for(0).waits_for(4);
  EXPECT_EQ(exit_time(config, for_both), config.sm.xu.latency_cycles);
  Program for_neither = program;
  for_neither.exit().waits_for(1);
  EXPECT_EQ(exit_time(config, for_neither), 2);
}

TEST(SmControlBits, ScoreboardIsFreeWhenTheLastInstructionThatSetItIsDone) {
  const hw::HwConfig config = test_config();
  Program program;
  program.op(MUFU_EX2).sets(2).op(UIADD3).sets(2).exit().waits_for(2);
  EXPECT_EQ(exit_time(config, program), config.sm.xu.latency_cycles);
}

TEST(SmControlBits, ReadScoreboardIsFreeWhenTheStoreHasReadItsSources) {
  const hw::HwConfig config = test_config();
  for (const std::uint16_t wavefronts : {std::uint16_t{4}, std::uint16_t{9}}) {
    Program program;
    program.op(STS_128).shared(512, wavefronts).holds(1).exit().waits_for(1);
    EXPECT_EQ(exit_time(config, program), wavefronts);
  }
}

}  // namespace
}  // namespace warpscope::test
