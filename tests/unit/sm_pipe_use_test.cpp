// How long pipes count as taken: for the interval of each instruction, while the SM holds a CTA.
#include <gtest/gtest.h>

#include "tests/support/core_bench.hpp"
#include "tests/support/gpu_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;
using sm::PipeSlot;

std::int64_t busy(CoreBench& bench, PipeSlot pipe) {
  return bench.core().counters().pipe_busy_cycles[static_cast<std::size_t>(pipe)];
}

TEST(SmPipeUse, EachInstructionCountsItsInterval) {
  const hw::HwConfig config = test_config();
  const hw::Sm& sm = config.sm;
  struct Use {
    trace::Opcode opcode;
    PipeSlot pipe;
    int cycles;
  };
  for (const auto& [opcode, pipe, cycles] :
       {Use{HMMA_16816_F32, PipeSlot::tensor, sm.tensor.hmma_16816.interval_cycles},
        Use{HMMA_1688_F32, PipeSlot::tensor, sm.tensor.hmma_1688.interval_cycles},
        Use{FFMA, PipeSlot::fma, 32 / sm.fma.lanes}, Use{IMAD, PipeSlot::fma, 32 / sm.imad.lanes},
        Use{FMNMX, PipeSlot::alu, 32 / sm.alu.lanes}, Use{MUFU_EX2, PipeSlot::xu, 32 / sm.xu.lanes}}) {
    SCOPED_TRACE(trace::info(opcode).name);
    for (const bool controlled : {false, true}) {
      Program program;
      program.op(opcode, 5).op(NOP, 40).exit();
      CoreBench bench(config, one_program(controlled ? program.build_controlled() : program.build(), 6));
      bench.run();
      for (const PipeSlot other : {PipeSlot::tensor, PipeSlot::fma, PipeSlot::alu, PipeSlot::xu}) {
        EXPECT_EQ(busy(bench, other), other == pipe ? 6 * 5 * cycles : 0);
      }
    }
  }
}

TEST(SmPipeUse, WhatReachesBeyondTheLastCtaIsNotCounted) {
  hw::HwConfig config = test_config();
  for (const int interval : {2, 3, 4, 5, 100, 1000}) {
    config.sm.tensor.hmma_16816 = {.interval_cycles = interval, .latency_cycles = 33, .read_cycles = 1};
    CoreBench bench(config, one_program(Program().op(HMMA_16816_F32).op(NOP, 2).exit().build()));
    EXPECT_EQ(bench.run(), 3);
    EXPECT_EQ(busy(bench, PipeSlot::tensor), std::min(interval, 4));
  }
  CoreBench xu(config, one_program(Program().op(MUFU_EX2).op(NOP, 7).exit().build()));
  EXPECT_EQ(xu.run(), 8);
  EXPECT_EQ(busy(xu, PipeSlot::xu), 9 - config.sm.xu.entry_cycles);
  CoreBench data_path(config, one_program(Program().op(STS_32).shared(128, 100).exit().build()));
  const std::int64_t exit = data_path.run();
  ASSERT_LT(exit, 99);
  EXPECT_EQ(data_path.core().counters().data_path_cycles, exit + 1);
}

TEST(SmPipeUse, WaitingForStoresAndShufflesIsNotBusy) {
  hw::HwConfig config = test_config();
  Program program;
  program.op(HMMA_16816_F32).op(SHFL_BFLY, 2).op(HMMA_16816_F32).op(NOP, 40).op(SHFL_BFLY).exit();
  CoreBench bench(config, one_program(program.build_controlled()));
  bench.run();
  EXPECT_EQ(busy(bench, PipeSlot::tensor), 2 * config.sm.tensor.hmma_16816.interval_cycles);
  // The pipe is put off behind its interval, which reaches beyond the end by itself.
  config.sm.tensor.hmma_16816.interval_cycles = 1000;
  CoreBench clipped(config,
                    one_program(Program().op(HMMA_16816_F32).op(SHFL_BFLY, 2).exit().build_controlled()));
  const std::int64_t exit = clipped.run();
  ASSERT_LT(exit, 100);
  EXPECT_EQ(busy(clipped, PipeSlot::tensor), exit + 1);
}

// The second CTA finds the pipe taken by the first one's instruction, and must wait for it.
TEST(SmPipeUse, CyclesBetweenTwoCtasAreNotCounted) {
  hw::HwConfig config = test_config();
  config.gpu.sm_count = config.sm.max_ctas = 1;
  config.sm.tensor.hmma_16816.interval_cycles = 1000;
  const trace::Trace trace{
      {}, {one_program(Program().op(HMMA_16816_F32).op(NOP, 30).exit().build_controlled(), 1, 3)}};
  for (const gpu::Mode mode : {gpu::Mode::detailed, gpu::Mode::fast}) {
    const auto metrics = run(config, trace, mode).launches[0].metrics;
    const double active = metrics.at("sm__cycles_active.avg");
    EXPECT_EQ(active, config.sm.icache.l1_fill_cycles + 2 * 1000 + 1 + 31 -
                          2 * (config.sm.issue.cta_turnaround_cycles - 1));
    EXPECT_DOUBLE_EQ(metrics.at("sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"),
                     100 * (active - config.sm.icache.l1_fill_cycles) / (4 * active));
  }
}

}  // namespace
}  // namespace warpscope::test
