// Where the cycles of resident warps go: one small program per reason.
#include <gtest/gtest.h>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;
using metrics::Stall;

/// Charges of one warp that runs `program`, and a check that they cover its residence.
class Charges {
 public:
  explicit Charges(const Program& program, std::vector<std::uint32_t> trips = {})
      : bench_(test_config(), one_program(program.build(), 1, 1, std::move(trips))) {
    bench_.answer(250);
    const std::int64_t end = bench_.run();
    const int fetch = test_config().sm.icache.l1_fill_cycles;
    EXPECT_EQ(bench_.all_warp_cycles(), static_cast<std::uint64_t>(end + 1 + fetch));
    EXPECT_EQ(of(Stall::no_instruction), fetch);
  }
  std::int64_t of(Stall reason) { return static_cast<std::int64_t>(bench_.stalled(reason)); }

 private:
  CoreBench bench_;
};

TEST(SmStall, SelectedIsTheNumberOfInstructions) {
  EXPECT_EQ(Charges(Program().op(NOP, 5).exit()).of(Stall::selected), 6);
  EXPECT_EQ(Charges(Program().begin_loop(0).op(NOP).end_loop().exit(), {4}).of(Stall::selected), 9);
}

TEST(SmStall, StallCountIsWait) {
  EXPECT_EQ(Charges(Program().op(NOP).stall(9).op(NOP).stall(4).exit()).of(Stall::wait), 8 + 3);
}

TEST(SmStall, ResultOfAMathPipeIsShortScoreboard) {
  Charges charges(Program().op(MUFU_EX2).writes(1).exit().reads(1));
  EXPECT_EQ(charges.of(Stall::short_scoreboard), test_config().sm.xu.latency_cycles - 1);
}

TEST(SmStall, ResultOfSharedMemoryIsShortScoreboard) {
  Charges by_register(Program().op(LDS_32).writes(1).shared(128, 1).exit().reads(1));
  EXPECT_EQ(by_register.of(Stall::short_scoreboard), 20 + 2 - 1);
  Charges by_control(Program().op(LDS_32).shared(128, 1).sets(0).exit().waits_for(0));
  EXPECT_EQ(by_control.of(Stall::short_scoreboard), 20 + 2 - 1);
}

TEST(SmStall, ResultOfGlobalMemoryIsLongScoreboard) {
  Charges by_register(Program().op(LDG_32).writes(1).global(0, 0, 128).exit().reads(1));
  EXPECT_EQ(by_register.of(Stall::long_scoreboard), 249);
  Charges by_control(Program().op(LDG_32).global(0, 0, 128).sets(0).exit().waits_for(0));
  EXPECT_EQ(by_control.of(Stall::long_scoreboard), 249);
  Charges by_group(Program().op(LDGSTS_128).global(0, 0, 512).op(LDGDEPBAR).op(DEPBAR_LE).exit());
  EXPECT_EQ(by_group.of(Stall::long_scoreboard), 248);
}

TEST(SmStall, SourcesOfGlobalMemoryAreLongScoreboard) {
  Program stores;
  Program shared;
  for (int i = 0; i < 4; ++i) {
    stores.op(STG_128).global(0, 0, 512).holds(0);
    shared.op(STS_128).shared(512, 4).holds(0);
  }
  Charges global_sources(stores.exit().waits_for(0));
  EXPECT_GT(global_sources.of(Stall::long_scoreboard), 0);
  EXPECT_EQ(global_sources.of(Stall::short_scoreboard), 0);
  Charges shared_sources(shared.exit().waits_for(0));
  EXPECT_GT(shared_sources.of(Stall::short_scoreboard), 0);
  EXPECT_EQ(shared_sources.of(Stall::long_scoreboard), 0);
}

TEST(SmStall, BusyPipeIsMathPipeThrottle) {
  Charges charges(Program().op(FMNMX, 3).exit());
  EXPECT_EQ(charges.of(Stall::math_pipe_throttle), 2 * (32 / test_config().sm.alu.lanes - 1));
}

TEST(SmStall, BusyXuIsMioThrottle) {
  Charges charges(Program().op(MUFU_EX2, 3).exit());
  // The second waits in front of the pipe, the third for the first to have left it.
  const hw::TranscendentalPipe xu = test_config().sm.xu;
  EXPECT_EQ(charges.of(Stall::mio_throttle), xu.entry_cycles + 32 / xu.lanes - 2);
}

TEST(SmStall, StandingForOperandsIsWait) {
  // The HMMA leaves one cycle for the two even registers, which take two.
  Charges charges(Program().op(HMMA_16816_F32).op(FADD).reads(20).reads(22).exit());
  EXPECT_EQ(charges.of(Stall::wait), 5 - 1);
  EXPECT_EQ(charges.of(Stall::dispatch_stall), 0);
}

TEST(SmStall, FullQueueIsMioThrottle) {
  // Six shuffles: the fifth waits for cycle 8, the sixth for 14, the exit for the last to leave at 30.
  Charges charges(Program().op(SHFL_BFLY, 6).exit());
  EXPECT_EQ(charges.of(Stall::mio_throttle), (8 - 4) + (14 - 9));
  EXPECT_EQ(charges.of(Stall::drain), 30 - 15);
}

TEST(SmStall, TakenBranchIsBranchResolving) {
  Charges charges(Program().begin_loop(0).op(NOP).end_loop().exit(), {3});
  EXPECT_EQ(charges.of(Stall::branch_resolving), 2 * test_config().sm.issue.branch_cycles);
  EXPECT_EQ(charges.of(Stall::wait), 0);
}

TEST(SmStall, ABranchThatJumpsOverCodeIsTaken) {
  Charges charges(Program().op(BRA).immediate(3).op(NOP).op(BRA).exit());
  EXPECT_EQ(charges.of(Stall::branch_resolving), test_config().sm.issue.branch_cycles);
}

TEST(SmStall, BsyncAndTheBranchToItAreJumps) {
  const int branch = test_config().sm.issue.branch_cycles;
  // Three instructions at once; each jump is over `branch` cycles behind its stall count.
  Charges joined(Program().op(BSSY).op(BSYNC).stall(5).exit());
  EXPECT_EQ(joined.of(Stall::branch_resolving) + joined.of(Stall::wait), 4 + branch);
  Charges jumped(Program().op(BSSY).op(BRA).op(BSYNC).exit());
  EXPECT_EQ(jumped.of(Stall::branch_resolving), 2 * branch);
  Charges passed(Program().op(BSSY).op(BRA).op(NOP).op(BSYNC).exit());
  EXPECT_EQ(passed.of(Stall::branch_resolving), branch) << "a branch that is not taken";
}

TEST(SmStall, ReadyWarpBehindAnotherIsNotSelected) {
  CoreBench bench(test_config(), one_program(Program().op(NOP, 10).exit().build(), 1, 5), 5);
  bench.run();
  EXPECT_EQ(bench.stalled(Stall::not_selected), 11U);
}

TEST(SmStall, WarpsOfOtherSubCoresAreNotInTheWay) {
  CoreBench bench(test_config(), one_program(Program().op(NOP, 10).exit().build(), 1, 4), 4);
  bench.run();
  EXPECT_EQ(bench.stalled(Stall::not_selected), 0U);
}

}  // namespace
}  // namespace warpscope::test
