// A launch that is remembered gives what simulating it would give, and nothing else is taken for it.
#include "model/gpu/launch_memo.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/gpu_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;
using gpu::LaunchMemo;
using gpu::Mode;

constexpr std::int64_t kBytes = 1 << 16;

/// Reads tensor `source` and writes `target`, 512 bytes per CTA and trip.
trace::Launch copy(std::uint16_t source, std::uint16_t target, std::uint32_t trips = 3) {
  const auto part_of = [](std::uint16_t tensor) {
    trace::MemoryOperand operand;
    operand.tensor = tensor;
    operand.bytes = 512;
    operand.offset.per_block[0] = 2048;
    operand.offset.per_iteration[0] = 512;
    return operand;
  };
  Program program;
  program.begin_loop(0).op(LDG_128).writes(8, 4).memory(part_of(source)).sets(0);
  program.op(STG_128).reads(8, 4).memory(part_of(target)).waits_for(0).end_loop().exit();
  return one_program(program.build_controlled(), 2, 24, {trips});
}

/// Tensors A to D, and copies from A to B and from C to D.
trace::Trace two_copies() {
  return {{tensor("A", kBytes), tensor("B", kBytes), tensor("C", kBytes), tensor("D", kBytes)},
          {copy(0, 1), copy(2, 3)}};
}

void expect_same_names(const metrics::SimulationResult& a, const metrics::SimulationResult& b) {
  for (std::size_t i = 0; i < a.launches.size(); ++i) {
    EXPECT_EQ(a.launches[i].name, b.launches[i].name);
    EXPECT_EQ(a.launches[i].grid, b.launches[i].grid);
    EXPECT_EQ(a.launches[i].threads_per_cta, b.launches[i].threads_per_cta);
    EXPECT_EQ(a.launches[i].time_us, b.launches[i].time_us);
    EXPECT_EQ(a.launches[i].sm_clock_mhz, b.launches[i].sm_clock_mhz);
    EXPECT_EQ(a.launches[i].occupancy.ctas_per_sm, b.launches[i].occupancy.ctas_per_sm);
    for (std::size_t t = 0; t < a.launches[i].traffic.size(); ++t) {
      EXPECT_EQ(a.launches[i].traffic[t].tensor, b.launches[i].traffic[t].tensor);
    }
  }
}

/// Simulates with `memo`; the result must be that without one.
metrics::SimulationResult simulate(LaunchMemo& memo, const trace::Trace& trace,
                                   const gpu::SimulationOptions& options = {},
                                   const hw::HwConfig& config = test_config()) {
  metrics::SimulationResult result = gpu::simulate(config, trace, options, memo);
  const metrics::SimulationResult alone = gpu::simulate(config, trace, options);
  expect_same(result, alone);
  expect_same_names(result, alone);
  return result;
}

std::uint64_t steps_of_one_copy() {
  return gpu::simulate(test_config(), {two_copies().tensors, {copy(0, 1)}}).warp_instructions_executed;
}

TEST(LaunchMemo, NothingIsSteppedTwice) {
  LaunchMemo memo;
  EXPECT_GT(simulate(memo, two_copies()).warp_instructions_executed, 0U);
  EXPECT_EQ(simulate(memo, two_copies()).warp_instructions_executed, 0U);
}

TEST(LaunchMemo, ALaunchThatRepeatsInATraceIsSteppedOnce) {
  LaunchMemo memo;
  const trace::Trace thrice{two_copies().tensors, {copy(0, 1), copy(0, 1), copy(0, 1)}};
  EXPECT_EQ(simulate(memo, thrice).warp_instructions_executed, steps_of_one_copy());
}

TEST(LaunchMemo, ALaunchIsTheSameOnTensorsThatAreAlike) {
  LaunchMemo memo;
  const trace::Trace trace{{tensor("A", kBytes), tensor("B", kBytes), tensor("mask", 4 * kBytes),
                            tensor("masked", kBytes), tensor("D", kBytes)},
                           {copy(0, 1), copy(3, 4)}};
  const metrics::SimulationResult result = simulate(memo, trace);
  EXPECT_EQ(result.warp_instructions_executed, steps_of_one_copy());
  EXPECT_EQ(result.launches[0].cycles, result.launches[1].cycles);
  EXPECT_GT(result.launches[0].traffic[0].dram_read_bytes, 0U);
  EXPECT_EQ(result.launches[0].traffic[0].dram_read_bytes, result.launches[1].traffic[3].dram_read_bytes);
  EXPECT_EQ(result.launches[1].traffic[0].l2_read_bytes, 0U);
  EXPECT_EQ(result.launches[1].traffic[4].tensor, "D");
}

TEST(LaunchMemo, WhatDecidesALaunchIsNotForgotten) {
  using Change = std::function<void(trace::Trace&, gpu::SimulationOptions&, hw::HwConfig&)>;
  const std::vector<Change> changes = {
      [](auto& trace, auto&, auto&) { trace.launches[0] = copy(0, 1, 4); },
      [](auto& trace, auto&, auto&) { trace.launches[0].grid[0] = 23; },
      [](auto& trace, auto&, auto&) { trace.launches[0].programs[0].code[0].control.stall_cycles = 9; },
      [](auto& trace, auto&, auto&) { trace.launches[0].programs[0].memory_operands[0].bytes = 256; },
      [](auto& trace, auto&, auto&) { trace.launches[0].registers_per_thread = 255; },
      [](auto& trace, auto&, auto&) { trace.tensors[1].segment_bytes = 3000; },
      [](auto& trace, auto&, auto&) { trace.tensors[1].line_segments = 2; },
      [](auto& trace, auto&, auto&) {
        trace.tensors[1].line_segments = 2;
        trace.tensors[1].row_bytes = 192;
      },
      [](auto& trace, auto&, auto&) { trace.tensors[0].kind = trace::TensorKind::local; },
      [](auto& trace, auto&, auto&) { trace.launches[0] = copy(1, 0); },
      [](auto&, auto& options, auto&) { options.mode = Mode::detailed; },
      [](auto&, auto& options, auto&) { options.sm_groups = 1; },
      [](auto&, auto&, auto& config) { config.l2.hit_latency_cycles += 7; },
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    SCOPED_TRACE(i);
    LaunchMemo memo;
    trace::Trace trace{two_copies().tensors, {copy(0, 1)}};
    gpu::SimulationOptions options;
    hw::HwConfig config = test_config();
    simulate(memo, trace, options, config);
    changes[i](trace, options, config);
    EXPECT_GT(simulate(memo, trace, options, config).warp_instructions_executed, 0U);
  }
}

TEST(LaunchMemo, IsNotAskedWhereTheL2StaysWarm) {
  LaunchMemo memo;
  const trace::Trace trace{two_copies().tensors, {copy(0, 1), copy(0, 1)}};
  const gpu::SimulationOptions warm{.warm_l2 = true};
  simulate(memo, trace);
  const auto first = simulate(memo, trace, warm);
  EXPECT_GT(first.warp_instructions_executed, 0U);
  EXPECT_LT(first.launches[1].traffic[0].dram_read_bytes, first.launches[0].traffic[0].dram_read_bytes);
  EXPECT_EQ(simulate(memo, trace, warm).warp_instructions_executed, first.warp_instructions_executed);
}

TEST(LaunchMemo, ForgetsWhatWasUsedLongestAgo) {
  const auto numbered = [](std::size_t number) {
    gpu::LaunchCase launch;
    launch.launch.launches.emplace_back().shared_bytes_per_cta = static_cast<std::uint32_t>(number);
    return launch;
  };
  LaunchMemo memo;
  for (std::size_t i = 0; i < LaunchMemo::kLaunches; ++i) {
    memo.keep(numbered(i), {{}, i, 0});
  }
  ASSERT_NE(memo.find(numbered(0)), nullptr);
  EXPECT_EQ(memo.find(numbered(0))->instructions, 0U);
  memo.keep(numbered(LaunchMemo::kLaunches), {});
  EXPECT_NE(memo.find(numbered(0)), nullptr);
  EXPECT_EQ(memo.find(numbered(1)), nullptr);
  EXPECT_NE(memo.find(numbered(2)), nullptr);
  EXPECT_NE(memo.find(numbered(LaunchMemo::kLaunches)), nullptr);
}

}  // namespace
}  // namespace warpscope::test
