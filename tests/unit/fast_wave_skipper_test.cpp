// When whole waves may be left out, and what that costs in accuracy.
#include "model/fast/wave_skipper.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "model/trace/statistics.hpp"
#include "tests/support/gpu_bench.hpp"

namespace warpscope::fast {
namespace {

constexpr std::uint64_t kSlots = 10;

trace::Launch grid(std::uint32_t x, std::uint32_t y = 1, std::uint32_t z = 1) {
  trace::Launch launch = test::one_program(test::Program().exit().build());
  launch.grid = {x, y, z};
  return launch;
}

/// What observe() answered to window ends at `times`, while the next wave runs already; the first answer that
/// allows a skip ends it. All windows have as much work as CTAs of `launch`, or that in `works` in turn.
struct Watch {
  std::optional<SkippedWaves> skipped;
  std::size_t windows = 0;  ///< seen until then
};

Watch watch(WaveSkipper& skipper, const std::vector<sim::Cycles>& times, std::vector<double> works = {}) {
  if (works.empty()) {
    works = {static_cast<double>(kSlots)};  // of an instruction each, as grid() has them
  }
  Watch result;
  double work = 0;
  for (const sim::Cycles time : times) {
    work += works[result.windows % works.size()];
    const std::uint64_t dispatched = (++result.windows + 1) * kSlots;
    if (!skipper.window_ends(dispatched)) {
      ADD_FAILURE() << "window " << result.windows << " is not wanted";
      break;
    }
    LaunchProgress progress;
    progress.time = time;
    progress.work = work;
    progress.counted.data_path_cycles = static_cast<std::int64_t>(7 * result.windows);
    result.skipped = skipper.observe(progress, dispatched);
    if (result.skipped) {
      break;
    }
  }
  return result;
}

TEST(WaveSkipper, SteadyWavesAreSkippedButTheLastOnes) {
  WaveSkipper skipper(grid(120), kSlots);
  const Watch seen = watch(skipper, {20000, 40000, 60000, 80000});
  ASSERT_TRUE(seen.skipped);
  EXPECT_EQ(seen.windows, 3U) << "two are compared, from the end of the first";
  // 40 of 120 are dispatched; of the eight windows left the last is executed.
  EXPECT_EQ(seen.skipped->ctas, 70U);
  EXPECT_EQ(seen.skipped->part.time, 60000 - 20000);
  EXPECT_EQ(seen.skipped->part.counted.data_path_cycles, 21 - 7);
}

TEST(WaveSkipper, SkipsOncePerLaunch) {
  WaveSkipper skipper(grid(1000), kSlots);
  ASSERT_TRUE(watch(skipper, {20000, 40000, 60000}).skipped);
  EXPECT_FALSE(skipper.window_ends(50));
}

TEST(WaveSkipper, UnsteadyWavesAreNotSkipped) {
  WaveSkipper slower(grid(200), kSlots);
  EXPECT_FALSE(watch(slower, {20000, 40000, 60201}).skipped) << "20201 cycles after 20000";
  WaveSkipper within(grid(200), kSlots);
  EXPECT_TRUE(watch(within, {20000, 40000, 60199}).skipped);
  WaveSkipper faster(grid(200), kSlots);
  EXPECT_FALSE(watch(faster, {20000, 40000, 59799}).skipped);
  WaveSkipper within_faster(grid(200), kSlots);
  EXPECT_TRUE(watch(within_faster, {20000, 40000, 59801}).skipped);
}

// Of heads of 32 numbers every other one finds in the L2 what came with its neighbour.
TEST(WaveSkipper, WindowsAreWholePeriodsOfSharedLines) {
  constexpr std::int64_t kL2 = 1 << 26;
  WaveSkipper periods(grid(200), kSlots, kL2, 25);
  EXPECT_FALSE(periods.window_ends(24));
  EXPECT_TRUE(periods.window_ends(25));
  EXPECT_FALSE(periods.window_ends(49));
  EXPECT_TRUE(periods.window_ends(50));
  WaveSkipper short_periods(grid(200), kSlots, kL2, 4);
  EXPECT_FALSE(short_periods.window_ends(11));
  EXPECT_TRUE(short_periods.window_ends(12)) << "no less than a wave";
  WaveSkipper few(grid(200), kSlots, kL2, 60);
  EXPECT_FALSE(few.window_ends(60)) << "three such windows are too few to leave one out";
}

TEST(WaveSkipper, WhoeverComesNextBeginsAPeriod) {
  WaveSkipper skipper(grid(200), kSlots, 1 << 26, 25);
  std::optional<SkippedWaves> skipped;
  std::uint64_t dispatched = 0;
  while (!skipped && dispatched < 200) {
    dispatched += 7;
    LaunchProgress progress;
    progress.time = static_cast<sim::Cycles>(dispatched) * 1000;
    progress.work = static_cast<double>(dispatched);
    skipped = skipper.window_ends(dispatched) ? skipper.observe(progress, dispatched) : std::nullopt;
  }
  ASSERT_TRUE(skipped);
  EXPECT_EQ(dispatched, 77U) << "the third window has ended";
  EXPECT_EQ(skipped->ctas, 75U - 2) << "three of four that are left, and the next CTA is the 150th";
  EXPECT_DOUBLE_EQ(skipped->repeats * skipped->part.work, 75.0 - 2) << "CTAs of one instruction each";
}

TEST(L2Period, IsThatOfTheTensorWhoseNeighboursComeLast) {
  trace::Launch launch = grid(5, 3, 4);
  trace::Trace trace;
  trace.tensors.resize(3);
  EXPECT_EQ(l2_period(trace, launch), 1U);
  for (std::uint16_t tensor = 0; tensor < 3; ++tensor) {
    trace::MemoryOperand operand;
    operand.tensor = tensor;
    operand.segment.per_block = {0, 4, 1};
    launch.programs[0].memory_operands.push_back(operand);
  }
  EXPECT_EQ(l2_period(trace, launch), 1U) << "no lines are shared";
  trace.tensors[1].line_segments = 2;
  EXPECT_EQ(l2_period(trace, launch), 2U * 5 * 3);
  trace.tensors[2].line_segments = 2;
  launch.programs[0].memory_operands[2].segment.block_divisor[2] = 2;
  EXPECT_EQ(l2_period(trace, launch), 2U * 5 * 3 * 2) << "two query heads have a key head";
}

/// Two classes, of which the second executes three times as many instructions.
trace::Launch two_classes(std::uint32_t x, std::uint32_t y, const std::vector<std::uint32_t>& classes) {
  trace::Launch launch = test::one_program(test::Program()
                                               .begin_loop(0)
                                               .op(trace::Opcode::FFMA)
                                               .op(trace::Opcode::FFMA)
                                               .end_loop()
                                               .exit()
                                               .build());
  launch.classes[0].trip_counts = {1};
  launch.classes.push_back(launch.classes[0]);
  launch.classes[1].trip_counts = {4};
  launch.grid = {x, y, 1};
  launch.class_of_block[0] = classes;
  return launch;
}

TEST(L2Period, IsARowOfUnequalCtasThatReadTheSameKeys) {
  trace::Launch launch = two_classes(5, 3, {0, 0, 0, 1, 1});
  trace::Trace trace;
  trace.tensors.resize(2);
  trace::MemoryOperand queries;
  queries.offset.per_block[0] = 4096;
  trace::MemoryOperand keys;
  keys.tensor = 1;
  keys.segment.per_block[1] = 1;
  launch.programs[0].memory_operands = {queries};
  EXPECT_EQ(l2_period(trace, launch), 1U) << "each reads its own";
  launch.programs[0].memory_operands.push_back(keys);
  EXPECT_EQ(l2_period(trace, launch), 5U);
  trace.tensors[1].kind = trace::TensorKind::local;
  EXPECT_EQ(l2_period(trace, launch), 1U) << "registers are nobody else's";
  trace.tensors[1].kind = trace::TensorKind::input;
  launch.class_of_block[0] = {0, 0, 0, 0, 0};
  launch.classes.pop_back();
  EXPECT_EQ(l2_period(trace, launch), 1U) << "all read alike";
}

TEST(WaveSkipper, WavesOfUnequalWorkAreSteadyAtEqualPace) {
  const trace::Launch launch =
      two_classes(20, 100, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
  const std::vector<std::uint64_t> work = trace::instructions_per_cta(launch);
  const auto light = static_cast<sim::Cycles>(10'000 * work[0]);
  const auto heavy = static_cast<sim::Cycles>(10'000 * work[1]);
  std::vector<sim::Cycles> times;
  for (sim::Cycles time = 50000; times.size() < 12;) {
    times.push_back(time);
    time += times.size() % 2 == 1 ? heavy : light;
  }
  WaveSkipper skipper(launch, kSlots);
  const double slots = kSlots;
  const Watch seen =
      watch(skipper, times, {slots * static_cast<double>(work[0]), slots * static_cast<double>(work[1])});
  ASSERT_TRUE(seen.skipped);
  EXPECT_EQ(seen.windows, 3U);
  // 40 CTAs are dispatched; 195 windows, beginning with a light one, follow on a heavy and a light one.
  ASSERT_EQ(seen.skipped->ctas, 195U * kSlots);
  const auto light_work = static_cast<double>(work[0]);
  const auto heavy_work = static_cast<double>(work[1]);
  EXPECT_DOUBLE_EQ(seen.skipped->repeats, (98 * light_work + 97 * heavy_work) / (light_work + heavy_work));
}

TEST(WaveSkipper, L2MustBeFullUnlessItNeverWillBe) {
  const std::vector<sim::Cycles> times = {20000, 40000, 60000, 80000, 100000, 120000, 140000, 160000, 180000};
  const auto windows_until_skip = [&](std::int64_t bytes_per_window) {
    WaveSkipper skipper(grid(1000), kSlots, 5000);
    std::size_t windows = 0;
    for (const sim::Cycles time : times) {
      ++windows;
      EXPECT_TRUE(skipper.window_ends((windows + 1) * kSlots));
      LaunchProgress progress;
      progress.time = time;
      progress.work = static_cast<double>(windows * kSlots);
      progress.l2_bytes = std::min<std::int64_t>(5000, static_cast<std::int64_t>(windows) * bytes_per_window);
      if (skipper.observe(progress, (windows + 1) * kSlots)) {
        break;
      }
    }
    return windows;
  };
  EXPECT_EQ(windows_until_skip(1250), 6U) << "full from the fourth window on";
  EXPECT_EQ(windows_until_skip(100), times.size()) << "100 windows fill it twice";
  EXPECT_EQ(windows_until_skip(40), 3U) << "it will not be full";
}

TEST(WaveSkipper, OnlyTheLastTwoWindowsMustBeSteady) {
  WaveSkipper skipper(grid(200), kSlots);
  const Watch seen = watch(skipper, {60000, 100000, 120000, 140000, 160000});
  ASSERT_TRUE(seen.skipped);
  EXPECT_EQ(seen.windows, 4U);
  EXPECT_EQ(seen.skipped->part.time, 140000 - 100000);
  EXPECT_EQ(seen.skipped->ctas, 200U - 50 - 10);
}

TEST(WaveSkipper, ShortWindowsAreComparedTogether) {
  WaveSkipper skipper(grid(1000), kSlots);
  std::vector<sim::Cycles> times;
  for (sim::Cycles time = 1000; time < 60000; time += 1000) {
    times.push_back(time);
  }
  const Watch seen = watch(skipper, times);
  ASSERT_TRUE(seen.skipped);
  EXPECT_EQ(seen.windows, 51U) << "the end of the third part of at least 16384 cycles";
  EXPECT_EQ(seen.skipped->part.time, 51000 - 17000);
}

TEST(WaveSkipper, FewWavesAreExecuted) {
  EXPECT_FALSE(WaveSkipper(grid(39), kSlots).window_ends(20));
  EXPECT_TRUE(WaveSkipper(grid(40), kSlots).window_ends(20));
  EXPECT_FALSE(WaveSkipper(grid(40), kSlots).window_ends(19));
}

TEST(WaveSkipper, WindowEndsOnceWhereBatchesOfCtasPassItsEnd) {
  WaveSkipper skipper(grid(60), kSlots);
  EXPECT_FALSE(skipper.window_ends(17));
  EXPECT_TRUE(skipper.window_ends(24));
  EXPECT_FALSE(skipper.window_ends(29));
  EXPECT_TRUE(skipper.window_ends(43)) << "two ends at once count as one";
}

TEST(WaveSkipper, GivesUpWhenTooLittleIsLeft) {
  WaveSkipper skipper(grid(59), kSlots);
  const Watch seen = watch(skipper, {20000, 40000, 60000});
  EXPECT_FALSE(seen.skipped);
  EXPECT_FALSE(skipper.window_ends(50)) << "9 of 59 are left, less than a window and the tail";
}

TEST(WaveSkipper, TableThatNamesOneClassIsNoObstacle) {
  const trace::Launch launch = two_classes(6, 40, {1, 1, 1, 1, 1, 1});
  const auto work = static_cast<double>(trace::instructions_per_cta(launch)[1]);
  WaveSkipper skipper(launch, kSlots);
  const Watch seen = watch(skipper, {20000, 40000, 60000}, {kSlots * work});
  ASSERT_TRUE(seen.skipped);
  EXPECT_EQ(seen.skipped->ctas, 240U - 40 - 10);
  EXPECT_DOUBLE_EQ(seen.skipped->repeats, 19.0 / 2) << "in CTAs of the class that is there";
  EXPECT_FALSE(skipper.window_ends(50));
}

/// Every CTA streams 32 KB of its own from HBM and writes a sixteenth of that.
trace::Trace stream_kernel(std::uint32_t ctas) {
  using enum trace::Opcode;
  trace::MemoryOperand in;
  in.tensor = 0;
  in.bytes = 512;
  in.offset.per_iteration = {2048, 0, 0};
  in.offset.per_warp = 512;
  in.offset.per_block = {32768, 0, 0};
  trace::MemoryOperand out = in;
  out.tensor = 1;
  out.offset.per_iteration = {};
  out.offset.per_block = {2048, 0, 0};
  test::Program program;
  program.begin_loop(0).op(LDG_128).memory(in).sets(0).op(FFMA, 4).waits_for(0).end_loop();
  program.op(STG_128).memory(out).exit();
  return {{test::tensor("in", 64 << 20), test::tensor("out", 4 << 20, 1, trace::TensorKind::output)},
          {test::one_program(program.build_controlled(), 4, ctas, {16})}};
}

TEST(WaveSkipperEndToEnd, CountsAreExactAndCyclesWithinTolerance) {
  const hw::HwConfig config = test::test_config();
  const trace::Trace trace = stream_kernel(1200);
  const metrics::SimulationResult fast = test::run(config, trace, gpu::Mode::fast);
  const metrics::SimulationResult detailed = test::run(config, trace, gpu::Mode::detailed);
  EXPECT_LT(fast.warp_instructions_executed * 3, detailed.warp_instructions_executed * 2)
      << "otherwise nothing was skipped";
  EXPECT_EQ(detailed.warp_instructions_total, trace::total(trace::executed_instructions(trace)));
  test::expect_pipes_taken(config, trace, fast, test::kMeasured);
  const auto& skipped = fast.launches[0].traffic;
  const auto& executed = detailed.launches[0].traffic;
  EXPECT_EQ(skipped[0].l2_read_bytes, 1200U * 32768);
  EXPECT_EQ(executed[0].l2_read_bytes, 1200U * 32768);
  EXPECT_EQ(skipped[1].l2_write_bytes, 1200U * 2048);
  EXPECT_EQ(executed[1].l2_write_bytes, 1200U * 2048);
  EXPECT_NEAR(static_cast<double>(fast.cycles), static_cast<double>(detailed.cycles),
              0.015 * static_cast<double>(detailed.cycles));
}

}  // namespace
}  // namespace warpscope::fast
