// When a loop is steady enough for its iterations to be left out.
#include "model/sm/loop_skipper.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "model/memory/l2.hpp"
#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

/// Takes one warp through `passes` passes of 40 iterations, each of which is said to last as many cycles as
/// `pace` has for its pass. Returns the iteration in which something could first be left out, by pass.
std::vector<std::uint32_t> first_skips(const std::vector<sim::Cycles>& pace) {
  Program program;
  program.begin_loop(1).op(FFMA, 3).begin_loop(0).op(FFMA, 9).end_loop().op(FFMA).end_loop().exit();
  const auto passes = static_cast<std::uint32_t>(pace.size());
  const trace::Trace trace{{}, {one_program(program.build_controlled(), 1, 1, {40, passes})}};
  const hw::HwConfig config = test_config();
  const sm::DecodedLaunch decoded = sm::decode(config, trace, trace.launches[0]);
  sm::SmCore core(config, trace, trace.launches[0], decoded, 1);
  core.install(0, {trace.launches[0].classes.data(), {0, 0, 0}, true}, 0);
  sm::LoopSkipper skipper(decoded);
  sim::Cycles now = 100 * memory::kLoadSettledCycles;  // nothing is too early to be left out
  std::vector<std::uint32_t> skips(pace.size(), 0);
  for (std::size_t slice = 1; !core.idle(); ++slice) {
    core.run_slice(1, 4096, {}, nullptr);  // up to the next iteration
    const sm::LoopCounters& counters = core.loop_counters_of(0);
    const std::uint32_t pass = counters.iteration[0];
    now += pace[pass];
    if (core.idle() || !skipper.wants_sample(core, now)) {
      continue;
    }
    skipper.sample(core, now, slice);
    if (skips[pass] == 0 && skipper.skip(core)) {
      skips[pass] = counters.iteration[1];
    }
  }
  return skips;
}

TEST(LoopSkipper, TwoWindowsThatAgreeOpenTheFirstPass) {
  EXPECT_EQ(first_skips({1000}), std::vector<std::uint32_t>{10}) << "two iterations, two windows of four";
}

TEST(LoopSkipper, LaterPassesNeedOneWindowAtTheSamePace) {
  EXPECT_EQ(first_skips({1000, 1000, 1003}), (std::vector<std::uint32_t>{10, 6, 6}));
}

TEST(LoopSkipper, PassAtAnotherPaceIsWatchedLikeTheFirst) {
  EXPECT_EQ(first_skips({1000, 1050, 1050}), (std::vector<std::uint32_t>{10, 10, 6}));
}

}  // namespace
}  // namespace warpscope::test
