// The passes of a warp through its loops, and when and how many of them are left out.
#include "model/sm/path_skipper.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "model/sm/warp_path.hpp"
#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

/// An outer loop with a straight part of three instructions and two inner loops of the same text.
trace::Launch two_inner_loops(std::uint32_t passes, std::uint32_t first, std::uint32_t second,
                              std::int32_t change) {
  trace::MemoryOperand load;
  load.tensor = 0;
  load.bytes = 512;
  load.offset.per_iteration = {0, 512, 0};
  trace::MemoryOperand later = load;
  later.offset.offset = 4096;
  Program program;
  program.begin_loop(0).op(FFMA, 3);
  program.begin_loop(1).op(LDG_128).memory(load).op(FFMA, 8).end_loop();
  program.begin_loop(2, {change, 0, 0}).op(LDG_128).memory(later).op(FFMA, 8).end_loop();
  program.op(FFMA).end_loop().exit();
  return one_program(program.build_controlled(), 2, 1, {passes, first, second});
}

const hw::HwConfig& config() {
  static const hw::HwConfig kConfig = test_config();
  return kConfig;
}

TEST(DecodedLoops, OfOneTextAreKnown) {
  const trace::Trace trace{{tensor("t", 1 << 20)}, {two_inner_loops(2, 5, 6, 0)}};
  const sm::DecodedLaunch decoded = sm::decode(config(), trace, trace.launches[0]);
  ASSERT_EQ(decoded.loops.size(), 3U);
  EXPECT_EQ(decoded.loops[1].text, 1U);
  EXPECT_EQ(decoded.loops[2].text, 1U) << "other addresses do not make another text";
}

TEST(DecodedLoops, OfOtherInstructionsOrSizesHaveTheirOwnText) {
  trace::MemoryOperand load;
  load.tensor = 0;
  load.bytes = 512;
  trace::MemoryOperand half = load;
  half.bytes = 256;
  Program program;
  program.begin_loop(0).op(LDG_128).memory(load).op(FFMA).end_loop();
  program.begin_loop(0).op(LDG_128).memory(half).op(FFMA).end_loop();
  program.begin_loop(0).op(LDG_128).memory(load).op(IADD3).end_loop();
  program.begin_loop(0).op(LDG_128).memory(load).op(FFMA).end_loop().exit();
  const trace::Trace trace{{tensor("t", 1 << 20)}, {one_program(program.build_controlled(), 1, 1, {4})}};
  const sm::DecodedLaunch decoded = sm::decode(config(), trace, trace.launches[0]);
  std::vector<std::uint32_t> texts;
  for (const sm::DecodedLoop& loop : decoded.loops) {
    texts.push_back(loop.text);
  }
  EXPECT_EQ(texts, (std::vector<std::uint32_t>{0, 1, 2, 0}));
}

TEST(WarpPath, NamesEveryPassWithTheWorkBeforeIt) {
  const trace::Trace trace{{tensor("t", 1 << 20)}, {two_inner_loops(3, 5, 2, -1)}};
  const trace::Launch& launch = trace.launches[0];
  const sm::DecodedLaunch decoded = sm::decode(config(), trace, launch);
  const std::vector<sm::LoopPass> path = sm::warp_path(decoded, 0, launch.classes[0]);
  // Bodies of 10 instructions; the third pass has no trips left for the second loop.
  ASSERT_EQ(path.size(), 5U);
  const std::vector<std::uint32_t> trips = {5, 2, 5, 1, 5};
  const std::vector<std::uint64_t> work = {3, 53, 78, 128, 143};
  for (std::size_t i = 0; i < path.size(); ++i) {
    EXPECT_EQ(path[i].loop, 1 + i % 2) << i;
    EXPECT_EQ(path[i].trips, trips[i]) << i;
    EXPECT_EQ(path[i].work_before, work[i]) << i;
    EXPECT_EQ(path[i].counters.iteration[0], i / 2) << i;
    EXPECT_EQ(path[i].counters.trips[1], trips[i]) << i;
  }
}

TEST(WarpPath, IsGivenUpWhereItIsLong) {
  const trace::Trace trace{{tensor("t", 1 << 20)}, {two_inner_loops(30000, 5, 2, 0)}};
  const sm::DecodedLaunch decoded = sm::decode(config(), trace, trace.launches[0]);
  EXPECT_TRUE(sm::warp_path(decoded, 0, trace.launches[0].classes[0]).empty());
}

/// One CTA of two warps on one core, stepped slice by slice.
class PathBench {
 public:
  explicit PathBench(trace::Launch launch)
      : trace_{{tensor("t", 1 << 20)}, {std::move(launch)}},
        decoded_(sm::decode(config(), trace_, trace_.launches[0])),
        core(config(), trace_, trace_.launches[0], decoded_, 1),
        skipper(decoded_) {
    core.install(0, {trace_.launches[0].classes.data(), {0, 0, 0}, true}, 0);
  }
  /// Steps until a window ends; false if the CTA ends before that.
  bool to_end_of_window() {
    while (!core.idle()) {
      step();
      if (!core.idle() && skipper.may_end_window(core) && skipper.end_window(core, now)) {
        return true;
      }
    }
    return false;
  }
  void step() {
    core.set_phase(now);
    const sm::Slice slice = core.run_slice(
        1, 64, [](const sm::MemoryRequest&, std::int32_t) { return memory::Response{}; }, nullptr);
    now += slice.end;
    issued += slice.issued;
  }

 private:
  trace::Trace trace_;
  sm::DecodedLaunch decoded_;

 public:
  sm::SmCore core;
  sm::PathSkipper skipper;
  sim::Cycles now = 0;
  std::uint64_t issued = 0;
};

TEST(PathSkipper, WindowsEndWhereALongPassBegins) {
  PathBench bench(two_inner_loops(10, 2, 40, 0));
  for (std::uint32_t pass = 0; pass < 10; ++pass) {
    ASSERT_TRUE(bench.to_end_of_window());
    EXPECT_EQ(bench.core.loop_counters_of(0).iteration[0], pass) << "not at the short pass";
    EXPECT_LE(bench.core.loop_counters_of(0).iteration[1], 2U);
    EXPECT_EQ(bench.core.loop_counters_of(0).trips[1], 40U);
  }
  EXPECT_FALSE(bench.to_end_of_window());
}

TEST(PathSkipper, FewPassesAreNotFollowed) {
  PathBench bench(two_inner_loops(3, 2, 40, 0));
  EXPECT_FALSE(bench.to_end_of_window());
  EXPECT_FALSE(bench.skipper.follows());
}

TEST(PathSkipper, LandsWholePassesLaterNearTheEndOfAPass) {
  PathBench bench(two_inner_loops(30, 2, 40, 0));
  for (int window = 0; window < 4; ++window) {
    ASSERT_TRUE(bench.to_end_of_window());
  }
  const sim::Cycles room = bench.skipper.room();
  const sim::Cycles begin = bench.now;
  const std::uint64_t issued = bench.issued;
  ASSERT_TRUE(bench.to_end_of_window());
  const sim::Cycles pass_cycles = bench.now - begin;
  const std::uint64_t pass_work = bench.issued - issued;
  // Of the 30 passes three lie behind and the last two are executed.
  EXPECT_NEAR(static_cast<double>(room), 25.0 * static_cast<double>(pass_cycles),
              1.0 * static_cast<double>(pass_cycles));

  std::optional<sm::PathSkip> skip;
  while (!(skip = bench.skipper.skip(bench.core, 10 * pass_cycles, 2))) {
    bench.step();
  }
  const sm::LoopCounters& counters = bench.core.loop_counters_of(0);
  EXPECT_GE(counters.iteration[1], 32U) << "eight iterations before the end of the pass at the earliest";
  ASSERT_NE(skip->targets[0].to, nullptr);
  EXPECT_EQ(skip->targets[0].to->counters.iteration[0], counters.iteration[0] + 10);
  EXPECT_EQ(skip->targets[0].iterations, 0);
  EXPECT_NEAR(static_cast<double>(skip->issued), 10.0 * static_cast<double>(pass_work),
              0.1 * static_cast<double>(pass_work));
  EXPECT_NEAR(static_cast<double>(skip->cycles), 10.0 * static_cast<double>(pass_cycles),
              0.1 * static_cast<double>(pass_cycles));
}

TEST(PathSkipper, LandsAtTheSameAddressesWherePassesShrink) {
  // The second loop begins an iteration later in each pass, and so do its addresses.
  trace::Launch launch = two_inner_loops(30, 0, 60, -1);
  for (trace::MemoryOperand& operand : launch.programs[0].memory_operands) {
    operand.offset.per_iteration[0] = 512;
  }
  PathBench bench(std::move(launch));
  for (int window = 0; window < 4; ++window) {
    ASSERT_TRUE(bench.to_end_of_window());
  }
  std::optional<sm::PathSkip> skip;
  while (!(skip = bench.skipper.skip(bench.core, bench.now, 3))) {
    bench.step();
  }
  const auto passes = static_cast<std::int64_t>(skip->targets[0].to->counters.iteration[0]) -
                      bench.core.loop_counters_of(0).iteration[0];
  EXPECT_GT(passes, 1);
  EXPECT_EQ(skip->targets[0].iterations, -passes);
}

TEST(PathSkipper, WarpGoesOnInTheSameInstructionOfTheOtherLoop) {
  PathBench bench(two_inner_loops(10, 20, 20, 0));
  ASSERT_TRUE(bench.to_end_of_window());
  const std::uint32_t pc = bench.core.state().warps[0].pc;
  const sm::DecodedLaunch& decoded = bench.core.decoded();
  sm::LoopCounters counters = bench.core.loop_counters_of(0);
  counters.iteration = {7, 11, 0};
  bench.core.move_warp(0, 1, 2, counters);
  EXPECT_EQ(bench.core.state().warps[0].pc - decoded.loops[2].begin, pc - decoded.loops[1].begin);
  EXPECT_EQ(bench.core.loop_counters_of(0).iteration, counters.iteration);
}

}  // namespace
}  // namespace warpscope::test
