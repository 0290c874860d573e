// Barriers of a CTA.
#include <gtest/gtest.h>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

Program at_barrier(std::uint16_t barrier = 0) {
  Program program;
  program.op(BAR_SYNC).immediate(barrier).exit();
  return program;
}

TEST(SmBarrier, CostsABaseAndATermPerWarp) {
  const hw::HwConfig config = test_config();
  const hw::Barrier& barrier = config.sm.barrier;
  for (int warps = 1; warps <= 4; ++warps) {
    EXPECT_EQ(exit_time(config, at_barrier(), static_cast<std::uint32_t>(warps)),
              barrier.base_cycles + barrier.per_warp_cycles * warps);
  }
  for (int warps = 5; warps <= 8; ++warps) {
    // Two warps of a sub-core leave one behind the other.
    EXPECT_EQ(exit_time(config, at_barrier(), static_cast<std::uint32_t>(warps)),
              barrier.base_cycles + barrier.per_warp_cycles * warps + 1);
  }
}

TEST(SmBarrier, OpensAfterTheLastArrival) {
  const hw::HwConfig config = test_config();
  const hw::Barrier& barrier = config.sm.barrier;
  const trace::WarpProgram early = at_barrier().build();
  for (const int late_by : {11, 40}) {
    const trace::WarpProgram late = Program().op(NOP, late_by).op(BAR_SYNC).exit().build();
    CoreBench bench(config, one_warp_each({early, late, early}));
    EXPECT_EQ(bench.run(), late_by + barrier.per_warp_cycles + barrier.base_cycles);
  }
}

TEST(SmBarrier, ArrivalsAreServedOneAfterAnother) {
  const hw::HwConfig config = test_config();
  const hw::Barrier& barrier = config.sm.barrier;
  // The second arrival finds the first one still being served.
  const trace::WarpProgram early = at_barrier().build();
  const trace::WarpProgram late = Program().op(NOP).op(BAR_SYNC).exit().build();
  CoreBench bench(config, one_warp_each({early, late}));
  EXPECT_EQ(bench.run(), 2 * barrier.per_warp_cycles + barrier.base_cycles);
}

TEST(SmBarrier, CanBeUsedAgain) {
  const hw::HwConfig config = test_config();
  const int once = config.sm.barrier.base_cycles + 4 * config.sm.barrier.per_warp_cycles;
  Program program;
  program.op(BAR_SYNC, 3).exit();
  EXPECT_EQ(exit_time(config, program, 4), 3 * once);
}

TEST(SmBarrier, NamesAreIndependent) {
  const hw::HwConfig config = test_config();
  const int once = config.sm.barrier.base_cycles + 4 * config.sm.barrier.per_warp_cycles;
  Program program;
  for (std::uint16_t barrier = 0; barrier < 16; ++barrier) {
    program.op(BAR_SYNC).immediate(barrier);
  }
  program.exit();
  EXPECT_EQ(exit_time(config, program, 4), 16 * once);
  // Arrivals at one do not open another.
  Program other_order;
  other_order.op(BAR_SYNC).immediate(2).op(BAR_SYNC).immediate(1).exit();
  Program order;
  order.op(BAR_SYNC).immediate(1).op(BAR_SYNC).immediate(2).exit();
  CoreBench bench(config, one_warp_each({order.build(), other_order.build()}));
  bench.run();
  EXPECT_TRUE(bench.deadlock());
  EXPECT_EQ(bench.core().waiting_warps(), (std::vector<std::pair<int, std::uint32_t>>{{0, 1}, {1, 4}}));
}

TEST(SmBarrier, CtasDoNotShareBarriers) {
  const hw::HwConfig config = test_config();
  const int once = config.sm.barrier.base_cycles + 2 * config.sm.barrier.per_warp_cycles;
  // Two CTAs of two warps fill the four sub-cores; neither delays the other.
  CoreBench bench(config, one_program(at_barrier().build(), 2, 2), 2);
  bench.run();
  EXPECT_EQ(bench.end_of(0), once);
  EXPECT_EQ(bench.end_of(1), once);
}

TEST(SmBarrier, WaitIsChargedToTheBarrier) {
  const hw::HwConfig config = test_config();
  const trace::WarpProgram late = Program().op(NOP, 40).op(BAR_SYNC).exit().build();
  CoreBench bench(config, one_warp_each({at_barrier().build(), late}));
  const std::int64_t end = bench.run();
  // Warp 0 waits from the cycle behind its BAR to the exit, warp 1 from the cycle behind its own.
  EXPECT_EQ(bench.stalled(metrics::Stall::barrier), static_cast<std::uint64_t>((end - 1) + (end - 41)));
}

}  // namespace
}  // namespace warpscope::test
