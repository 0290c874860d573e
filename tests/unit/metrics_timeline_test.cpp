// What a watched simulation tells, and the spans that are made of it.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <numeric>

#include "model/metrics/timeline_recorder.hpp"
#include "tests/support/gpu_bench.hpp"

namespace warpscope::test {
namespace {

using metrics::CycleSpan;
using metrics::SmEvent;
using metrics::Stall;
using metrics::TimelineData;

trace::Trace random_trace(std::uint32_t seed, bool controlled) {
  RandomProgram random(seed);
  trace::Trace trace{random_program_tensors(), {}};
  for (int launch = 0; launch < 2; ++launch) {
    trace.launches.push_back(one_program(random.make(80, true, controlled), 6, 23, {5, 3}));
  }
  return trace;
}

/// Adds up what it is told of all SMs.
struct Sums : metrics::Observer {
  std::array<std::uint64_t, metrics::kStallReasons> cycles{};
  std::uint64_t ctas = 0;

  bool watches(int /*sm*/, std::int64_t /*cycle*/) override { return true; }
  void cta_begins(const metrics::CtaBegin& /*cta*/) override { ++ctas; }
  void slice(int /*sm*/, std::int64_t /*start*/, std::int64_t /*end*/,
             std::span<const SmEvent> events) override {
    for (const SmEvent& event : events) {
      if (event.kind == SmEvent::Kind::issue) {
        ++cycles[static_cast<std::size_t>(Stall::selected)];
      } else if (event.kind == SmEvent::Kind::stall) {
        cycles[event.detail] += static_cast<std::uint64_t>(event.end - event.begin);
      }
    }
  }
};

metrics::SimulationResult run_watched(const trace::Trace& trace, metrics::Observer& observer) {
  gpu::SimulationOptions options;
  options.mode = gpu::Mode::detailed;
  options.observer = &observer;
  return gpu::simulate(test_config(), trace, options);
}

TEST(MetricsTimeline, WatchingChangesNothingAndTellsAllThatIsCounted) {
  for (const bool controlled : {true, false}) {
    for (std::uint32_t seed = 0; seed < 6; ++seed) {
      SCOPED_TRACE(seed);
      const trace::Trace trace = random_trace(seed, controlled);
      Sums sums;
      const metrics::SimulationResult watched = run_watched(trace, sums);
      expect_same(watched, run(test_config(), trace, gpu::Mode::detailed));
      EXPECT_EQ(sums.ctas, 2U * 23);
      for (std::size_t i = 0; i < metrics::kStallReasons; ++i) {
        EXPECT_EQ(sums.cycles[i],
                  watched.launches[0].stall_warp_cycles[i] + watched.launches[1].stall_warp_cycles[i])
            << metrics::name(static_cast<Stall>(i));
      }
    }
  }
}

TEST(MetricsTimeline, LaunchesThatRepeatAreToldEachTime) {
  trace::Trace trace = random_trace(1, true);
  trace.launches[1] = trace.launches[0];
  Sums sums;
  const metrics::SimulationResult watched = run_watched(trace, sums);
  EXPECT_EQ(sums.ctas, 2U * 23);
  EXPECT_EQ(watched.warp_instructions_executed, watched.warp_instructions_total);
}

TEST(MetricsTimeline, FastModeCannotBeWatched) {
  Sums sums;
  gpu::SimulationOptions options;
  options.observer = &sums;
  EXPECT_THROW(gpu::simulate(test_config(), random_trace(0, true), options), std::invalid_argument);
}

TimelineData record(const trace::Trace& trace, const metrics::TimelineRequest& request = {}) {
  metrics::TimelineRecorder recorder(request);
  run_watched(trace, recorder);
  return recorder.take();
}

/// By track; spans of a track must follow one another.
template <class Spans, class Track>
void expect_apart(const Spans& spans, Track track) {
  std::map<decltype(track(spans[0])), std::int64_t> ends;
  for (const auto& span : spans) {
    EXPECT_LT(span.span.begin, span.span.end);
    EXPECT_LE(ends[track(span)], span.span.begin);
    ends[track(span)] = span.span.end;
  }
}

TEST(MetricsTimeline, SpansOfATrackFollowOneAnother) {
  for (std::uint32_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    const TimelineData data = record(random_trace(seed, true));
    ASSERT_EQ(data.launches.size(), 2U);
    EXPECT_EQ(data.launches[0].span.end, data.launches[1].span.begin);
    EXPECT_EQ(data.ctas.size(), 46U);
    std::uint64_t numbers = 0;
    for (const metrics::TimelineCta& cta : data.ctas) {
      numbers += cta.number;
    }
    EXPECT_EQ(numbers, 2U * 22 * 23 / 2);
    expect_apart(data.ctas, [](const auto& cta) { return std::pair(cta.sm, cta.slot); });
    expect_apart(data.warps, [](const auto& warp) { return warp.warp; });
    expect_apart(data.pipes, [](const auto& pipe) { return std::pair(pipe.sub_core, pipe.pipe); });
    EXPECT_FALSE(data.sm_stopped);
  }
}

// Between its first cycle and its EXIT a warp does something in every cycle, and all it issues is there.
TEST(MetricsTimeline, SpansOfWarpsFillTheTimesOfTheirCtas) {
  const trace::Trace trace = random_trace(2, true);
  const TimelineData data = record(trace);
  std::int64_t resident = 0;
  std::int64_t ctas = 0;
  for (const metrics::TimelineCta& cta : data.ctas) {
    resident += cta.sm == data.sm ? cta.span.cycles() * 6 : 0;
    ctas += cta.sm == data.sm ? 1 : 0;
  }
  std::int64_t cycles = 0;
  for (const metrics::TimelineWarp& warp : data.warps) {
    cycles += warp.span.cycles();
  }
  EXPECT_GT(ctas, 2);
  // Warps of a CTA that exit early leave it to the others.
  EXPECT_LE(cycles, resident);
  EXPECT_GT(cycles, resident * 9 / 10);
}

TEST(MetricsTimeline, BytesAreThoseThatMoved) {
  const trace::Trace trace = random_trace(3, true);
  metrics::TimelineRecorder recorder({});
  const metrics::SimulationResult result = run_watched(trace, recorder);
  const TimelineData data = recorder.take();
  metrics::MovedBytes moved;
  for (const metrics::TimelineMoved& bin : data.moved) {
    moved.l2_read += bin.bytes.l2_read;
    moved.hbm_read += bin.bytes.hbm_read;
    moved.l2_write += bin.bytes.l2_write;
  }
  metrics::MovedBytes counted;
  for (const metrics::LaunchResult& launch : result.launches) {
    for (const metrics::TensorTraffic& tensor : launch.traffic) {
      counted.l2_read += tensor.l2_read_bytes;
      counted.hbm_read += tensor.dram_read_bytes;
      counted.l2_write += tensor.l2_write_bytes;
    }
  }
  EXPECT_GT(moved.hbm_read, 0U);
  EXPECT_EQ(moved.l2_read, counted.l2_read);
  EXPECT_EQ(moved.hbm_read, counted.hbm_read);
  EXPECT_EQ(moved.l2_write, counted.l2_write);
}

// The launch is over before they come, yet bytes are shown within launches.
TEST(MetricsTimeline, BytesThatNobodyWaitsForAreThoseOfTheEnd) {
  using enum trace::Opcode;
  Program program;
  program.begin_loop(0).op(LDG_128).global(0, 0, 512).end_loop().exit();
  const TimelineData data =
      record({{tensor("in", 1 << 20)}, {one_program(program.build_controlled(), 1, 1, {300})}});
  ASSERT_FALSE(data.moved.empty());
  std::uint64_t read = 0;
  for (const metrics::TimelineMoved& bin : data.moved) {
    EXPECT_LT(bin.span.begin, bin.span.end);
    read += bin.bytes.l2_read;
  }
  EXPECT_EQ(read, 300U * 512);
}

TEST(MetricsTimeline, WindowsAndLimitsCutWhatIsRecorded) {
  const trace::Trace trace = random_trace(4, true);
  const TimelineData whole = record(trace);
  metrics::TimelineRequest request;
  request.sm = 1;
  request.sm_window = {400, 900};
  const TimelineData part = record(trace, request);
  EXPECT_EQ(part.sm, 1);
  EXPECT_EQ(part.ctas.size(), whole.ctas.size());
  ASSERT_FALSE(part.warps.empty());
  for (const metrics::TimelineWarp& warp : part.warps) {
    EXPECT_GE(warp.span.begin, 400);
    EXPECT_LE(warp.span.end, 900);
  }
  request = {};
  request.most_spans = 40;
  const TimelineData few = record(trace, request);
  EXPECT_TRUE(few.sm_stopped);
  EXPECT_TRUE(few.ctas_stopped);
  EXPECT_LT(few.sm_window.end, few.launches.back().span.end);
  EXPECT_LE(few.warps.size() + few.pipes.size(), 41U);
  EXPECT_EQ(few.ctas.size(), 40U);
}

TEST(MetricsTimeline, CopiesAndBarriersOfACtaAreOneSpanEach) {
  using enum trace::Opcode;
  trace::MemoryOperand operand;
  operand.tensor = 0;
  operand.bytes = 512;
  operand.offset.per_warp = 512;
  Program program;
  program.op(LDGSTS_128).memory(operand).op(LDGSTS_128).memory(operand).op(LDGDEPBAR).op(LDGDEPBAR);
  program.op(DEPBAR_LE).immediate(0).op(BAR_SYNC).immediate(3).exit();
  const TimelineData data =
      record({{tensor("in", 1 << 20)}, {one_program(program.build_controlled(), 4, 1)}});
  ASSERT_EQ(data.copies.size(), 1U);  // the second group is empty
  EXPECT_EQ(data.copies[0].instructions, 8U);
  EXPECT_EQ(data.copies[0].bytes, 8U * 512);
  EXPECT_GT(data.copies[0].span.cycles(), test_config().l2.hit_latency_cycles) << "until the data is there";
  ASSERT_EQ(data.barriers.size(), 1U);
  EXPECT_EQ(data.barriers[0].barrier, 3);
  // From the warp that has its copies first to the one that has them last, and goes at the barrier's pace.
  const hw::Barrier& barrier = test_config().sm.barrier;
  EXPECT_GT(data.barriers[0].span.begin, data.copies[0].span.begin);
  EXPECT_GE(data.barriers[0].span.cycles(), barrier.base_cycles + 4 * barrier.per_warp_cycles);
  EXPECT_GE(data.barriers[0].span.end, data.copies[0].span.end + barrier.base_cycles);
}

}  // namespace
}  // namespace warpscope::test
