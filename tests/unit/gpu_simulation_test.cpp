// Launches on the whole GPU: times to the cycle, conservation, determinism, deadlocks.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "model/gpu/deadlock.hpp"
#include "model/memory/server.hpp"
#include "tests/support/gpu_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;
using gpu::Mode;

/// The first CTA starts one cycle in (one CTA a cycle) and its first instruction line takes its fill.
std::int64_t first_issue(const hw::HwConfig& config) {
  return 1 + config.sm.icache.l1_fill_cycles;
}

hw::HwConfig one_slot() {
  hw::HwConfig config = test_config();
  config.gpu.sm_count = 1;
  config.sm.max_ctas = 1;
  return config;
}

TEST(GpuSimulation, LaunchEndsWithItsLastInstruction) {
  const hw::HwConfig config = test_config();
  for (const int nops : {0, 10, 700}) {
    const trace::Trace trace{{}, {one_program(Program().op(NOP, nops).exit().build_controlled())}};
    // 700 instructions lie on three lines, none of them prefetched.
    const std::int64_t later_lines = nops / 256 * (config.sm.icache.l1_fill_cycles - 1);
    EXPECT_EQ(run(config, trace, Mode::detailed).cycles, first_issue(config) + nops + later_lines + 1);
  }
}

TEST(GpuSimulation, NextCtaOfASlotStartsATurnaroundLater) {
  const hw::HwConfig config = one_slot();
  for (const std::uint32_t ctas : {1U, 2U, 7U}) {
    const trace::Trace trace{{}, {one_program(Program().op(NOP, 30).exit().build_controlled(), 1, ctas)}};
    EXPECT_EQ(run(config, trace, Mode::detailed).cycles,
              first_issue(config) + 31 + (ctas - 1) * (30 + config.sm.issue.cta_turnaround_cycles));
  }
}

// A wide distribution around a short turnaround must not start a CTA before the end of the one whose slot it
// takes: times of its warps would lie in the past, where nothing accounts for them.
TEST(GpuSimulation, SuccessorStartsBehindTheEndHoweverShortTheTurnaround) {
  hw::HwConfig config = test_config();
  config.gpu.sm_count = 1;
  config.sm.max_ctas = 2;
  const auto trace_of = [](int warps) {
    const Program program = Program().op(HMMA_16816_F32, 9).op(NOP, 20).exit();
    return trace::Trace{{}, {one_program(program.build_controlled(), static_cast<std::uint32_t>(warps), 12)}};
  };
  for (int turnaround = 0; turnaround <= 65; ++turnaround) {
    SCOPED_TRACE(turnaround);
    config.sm.issue.cta_turnaround_cycles = turnaround;
    config.sm.issue.cta_turnaround_spread_cycles = 128;
    for (const int warps : {1, 8}) {
      const metrics::SimulationResult result = run(config, trace_of(warps), Mode::detailed);
      const auto& stalls = result.launches[0].stall_warp_cycles;
      const std::uint64_t resident = std::accumulate(stalls.begin(), stalls.end(), std::uint64_t{0});
      EXPECT_LE(resident, static_cast<std::uint64_t>(2 * warps * result.cycles));
      EXPECT_GE(resident, static_cast<std::uint64_t>(12 * warps * 86));
      expect_same(result, run(config, trace_of(warps), Mode::fast));
    }
    // One after the other, each between 1 and twice the turnaround behind the one before.
    const trace::Trace chain = trace_of(1);
    config.sm.max_ctas = 1;
    const std::int64_t cycles = run(config, chain, Mode::detailed).cycles;
    config.sm.max_ctas = 2;
    const std::int64_t to_exit = 8 * 8 + 1 + 20;
    const std::int64_t without = 11 * to_exit + first_issue(config) + to_exit + 1;
    EXPECT_GE(cycles, without + 11);
    EXPECT_LE(cycles, without + 11 * 2 * std::max(1, turnaround));
  }
}

// The data of a load that nobody waits for comes when the next CTA is in the slot: it is not that one's.
TEST(GpuSimulation, LoadsOfACtaThatHasEndedConcernNobody) {
  Program program;
  program.op(NOP, 900).op(NOP).waits_for(0).op(LDG_32).sets(0).global(0, 0, 128).exit();
  const trace::Trace trace{{tensor("t", 1 << 20)}, {one_program(program.build_controlled(), 1, 5)}};
  hw::HwConfig config = one_slot();
  const std::int64_t cycles = run(config, trace, Mode::detailed).cycles;
  EXPECT_GT(cycles, 5 * 900);
  config.l2.hit_latency_cycles += 100;
  config.hbm.latency_ns += 300;
  EXPECT_EQ(run(config, trace, Mode::detailed).cycles, cycles);
}

TEST(GpuSimulation, ActiveCyclesAreThoseWithACta) {
  const hw::HwConfig config = one_slot();
  const trace::Trace trace{{}, {one_program(Program().op(NOP, 30).exit().build_controlled(), 1, 2)}};
  const auto metrics = run(config, trace, Mode::detailed).launches[0].metrics;
  const int fetch = config.sm.icache.l1_fill_cycles;
  EXPECT_EQ(metrics.at("sm__cycles_active.avg"), fetch + 31 + 31);
  EXPECT_EQ(metrics.at("sm__warps_active.avg.per_cycle_active"), 1);
}

TEST(GpuSimulation, ClockIsLowerWithTensorInstructions) {
  const hw::HwConfig config = test_config();
  const trace::Trace plain{{}, {one_program(Program().op(FFMA).exit().build_controlled())}};
  const trace::Trace tensor_pipe{{}, {one_program(Program().op(HMMA_16816_F32).exit().build_controlled())}};
  EXPECT_EQ(run(config, plain, Mode::fast).launches[0].sm_clock_mhz, config.clock.max_mhz);
  EXPECT_EQ(run(config, tensor_pipe, Mode::fast).launches[0].sm_clock_mhz, config.clock.tensor_mhz);
}

TEST(GpuSimulation, LaunchesFollowOneAnotherWithTheLaunchOverhead) {
  const hw::HwConfig config = test_config();
  const trace::Launch launch = one_program(Program().op(NOP, 93).exit().build_controlled());
  const metrics::SimulationResult one = run(config, {{}, {launch}}, Mode::fast);
  const metrics::SimulationResult three = run(config, {{}, {launch, launch, launch}}, Mode::fast);
  EXPECT_EQ(one.cycles, 100);
  EXPECT_EQ(three.cycles, 300);
  EXPECT_DOUBLE_EQ(one.time_us, 0.1);
  EXPECT_DOUBLE_EQ(three.time_us, 3 * 0.1 + 2 * config.launch.overhead_us);
}

/// 300 CTAs of two classes with other trips; copies, barriers, stores.
trace::Trace random_trace(std::uint32_t seed, std::uint32_t warps, std::uint32_t ctas, bool controlled) {
  RandomProgram random(seed);
  trace::Launch launch = one_program(random.make(70, warps > 1, controlled), warps, ctas, {6, 3});
  launch.classes.push_back(launch.classes[0]);
  launch.classes[1].trip_counts = {2 + seed % 5, 1};
  for (std::uint32_t i = 0; i < ctas; ++i) {
    launch.class_of_block[0].push_back(i % 5 < 2 ? 1 : 0);
  }
  return {random_program_tensors(), {launch, launch}};
}

TEST(GpuSimulation, FastModeIsExactOnRandomPrograms) {
  const hw::HwConfig config = test_config();
  for (std::uint32_t seed = 0; seed < 8; ++seed) {
    const std::array<std::uint32_t, 4> ctas = {1, 2, 40, 71};
    const trace::Trace trace = random_trace(seed, 1 + seed % 5, ctas[seed % 4], true);
    const metrics::SimulationResult fast = run(config, trace, Mode::fast, seed % 3 == 0);
    SCOPED_TRACE(seed);
    const metrics::SimulationResult detailed = run(config, trace, Mode::detailed, seed % 3 == 0);
    expect_conserved(trace, detailed);
    expect_same(fast, detailed);
    expect_same(fast, run(config, trace, Mode::fast, seed % 3 == 0));
  }
}

/// Copies a tile per iteration from memory that all CTAs share, multiplies, and stores; CTAs differ in trips.
trace::Trace tile_kernel(std::uint32_t ctas, std::uint32_t trips) {
  trace::MemoryOperand tile;
  tile.tensor = 0;
  tile.bytes = 512;
  tile.offset.per_iteration = {4096, 0, 0};
  tile.offset.per_warp = 512;
  trace::MemoryOperand out = tile;
  out.tensor = 1;
  out.offset.per_iteration = {};
  out.offset.per_block = {2048, 0, 0};
  Program program;
  program.begin_loop(0).op(LDGSTS_128).memory(tile).op(LDGDEPBAR).op(DEPBAR_LE).op(BAR_SYNC);
  program.op(LDSM_X4).shared(512, 4).sets(0).op(HMMA_16816_F32, 8).waits_for(0).op(BAR_SYNC).end_loop();
  program.op(STG_128).memory(out).exit();
  trace::Launch launch = one_program(program.build_controlled(), 4, ctas, {trips});
  launch.classes.push_back(launch.classes[0]);
  launch.classes[1].trip_counts = {trips / 2};
  for (std::uint32_t i = 0; i < ctas; ++i) {
    launch.class_of_block[0].push_back(i % 3 == 0 ? 1 : 0);
  }
  return {random_program_tensors(), {launch}};
}

TEST(GpuSimulation, FastModeIsNearOnTilesOfSharedMemory) {
  for (const std::uint32_t ctas : {1U, 4U, 90U}) {
    SCOPED_TRACE(ctas);
    const trace::Trace trace = tile_kernel(ctas, 100);
    const metrics::SimulationResult fast = run(test_config(), trace, Mode::fast);
    const metrics::SimulationResult detailed = run(test_config(), trace, Mode::detailed);
    EXPECT_NEAR(static_cast<double>(fast.cycles), static_cast<double>(detailed.cycles),
                0.01 * static_cast<double>(detailed.cycles));
    expect_conserved(trace, detailed);
    expect_pipes_taken(test_config(), trace, fast, kMeasured);
  }
}

TEST(GpuSimulation, FastModeStepsLittleOfWhatRepeats) {
  const auto loop = [](std::uint32_t trips) {
    Program program;
    program.begin_loop(0).op(FFMA, 20).op(MUFU_EX2, 3).op(LDS_32).shared(128, 1).op(BAR_SYNC).end_loop();
    program.exit();
    return trace::Trace{{}, {one_program(program.build_controlled(), 4, 3, {trips})}};
  };
  // What is short is executed as it is.
  expect_same(run(test_config(), loop(200), Mode::fast), run(test_config(), loop(200), Mode::detailed));
  const metrics::SimulationResult many = run(test_config(), loop(2'000'000), Mode::fast);
  EXPECT_LT(many.warp_instructions_executed * 80, many.warp_instructions_total);
}

TEST(GpuSimulation, FastModeStepsLoopsWithoutMemoryOnce) {
  const auto loop = [](std::uint32_t trips, bool controlled) {
    Program program;
    program.begin_loop(0).op(FFMA).writes(1).reads(1).op(MUFU_EX2).writes(2).reads(1).op(BAR_SYNC).end_loop();
    program.op(FFMA, 3).exit();
    return trace::Trace{
        {}, {one_program(controlled ? program.build_controlled() : program.build(), 4, 2, {trips})}};
  };
  for (const bool controlled : {false, true}) {
    SCOPED_TRACE(controlled);
    const metrics::SimulationResult once = run(test_config(), loop(10'000'000, controlled), Mode::fast);
    const metrics::SimulationResult often = run(test_config(), loop(1'000'000'000, controlled), Mode::fast);
    EXPECT_NEAR(static_cast<double>(often.cycles), 100 * static_cast<double>(once.cycles),
                1e-3 * static_cast<double>(often.cycles));
    EXPECT_LE(often.warp_instructions_executed, 2 * once.warp_instructions_executed);
    EXPECT_LT(often.warp_instructions_executed, 100'000U);
    expect_pipes_taken(test_config(), loop(1'000'000'000, controlled), often, kMeasured);
  }
}

TEST(GpuSimulation, RegisterScoreboardIsConservedAndDeterministic) {
  const hw::HwConfig config = test_config();
  for (std::uint32_t seed = 20; seed < 24; ++seed) {
    const trace::Trace trace = random_trace(seed, 3, 20, false);
    const metrics::SimulationResult result = run(config, trace, Mode::detailed);
    expect_conserved(trace, result);
    expect_same(result, run(config, trace, Mode::fast));
  }
}

// Nothing waits for these copies but the end, so that ever more of them queue up: 2^31 units of queue time
// and beyond, and more copies in one group than bytes count.
TEST(GpuSimulation, AnyBacklogOfTheMemoryIsWaitedFor) {
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 1024;
  operand.offset.per_iteration = {4096, 0, 0};
  operand.offset.per_warp = 1024;
  Program program;
  program.begin_loop(0).op(LDGSTS_128).memory(operand).end_loop();
  program.op(LDGDEPBAR).op(DEPBAR_LE).immediate(0).exit();
  const trace::Trace trace{{tensor("t", 1 << 30)},
                           {one_program(program.build_controlled(), 4, 1, {100'000})}};
  hw::HwConfig slow = test_config();
  slow.hbm.peak_gb_per_s = 10;
  const double bytes = 4 * 100'000 * 1024.0;
  const double bytes_per_cycle = 10 * slow.hbm.read_efficiency;
  const std::int64_t cycles = run(slow, trace, Mode::detailed).cycles;
  EXPECT_GT(cycles * memory::kQueueUnits, std::int64_t{1} << 31);
  EXPECT_NEAR(static_cast<double>(cycles), bytes / bytes_per_cycle, 0.01 * bytes / bytes_per_cycle);
}

std::string refusal(const trace::Trace& trace, Mode mode) {
  try {
    run(test_config(), trace, mode);
    return "accepted";
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(GpuSimulation, TimeBeyondTheLongestLaunchIsRefused) {
  Program program;
  program.begin_loop(0).begin_loop(1).op(MUFU_EX2, 4).end_loop().end_loop().exit();
  const trace::Trace trace{{}, {one_program(program.build_controlled(), 1, 1, {1 << 20, 1 << 20})}};
  EXPECT_EQ(refusal(trace, Mode::fast),
            "launch 'launch' takes more than 2^40 cycles, the longest that is simulated");
}

std::string deadlock_message(const trace::Trace& trace, Mode mode) {
  try {
    run(test_config(), trace, mode);
    return "no deadlock";
  } catch (const gpu::DeadlockError& error) {
    return error.what();
  }
}

TEST(GpuSimulation, DeadlockNamesWhoWaitsWhere) {
  const auto order = [](const char* name, std::uint16_t first, std::uint16_t second) {
    return Program(name)
        .op(NOP)
        .op(BAR_SYNC)
        .immediate(first)
        .op(BAR_SYNC)
        .immediate(second)
        .exit()
        .build_controlled();
  };
  const trace::Trace trace{{}, {one_warp_each({order("up", 1, 2), order("down", 2, 1)})}};
  const std::string expected =
      "deadlock in launch 'launch' on SM 0: no warp can make progress; waiting: warp 0 at up:2 (behind "
      "BAR.SYNC), warp 1 at down:2 (behind BAR.SYNC)";
  EXPECT_EQ(deadlock_message(trace, Mode::detailed), expected);
  EXPECT_EQ(deadlock_message(trace, Mode::fast), expected);
}

TEST(GpuSimulation, SmsWithoutWorkAreNoDeadlock) {
  const trace::Trace trace{{}, {one_program(Program().op(BAR_SYNC).exit().build_controlled(), 4)}};
  EXPECT_EQ(deadlock_message(trace, Mode::fast), "no deadlock");
}

}  // namespace
}  // namespace warpscope::test
