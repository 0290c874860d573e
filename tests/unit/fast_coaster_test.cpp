// When an SM may leave out iterations of its loops.
#include "model/fast/coaster.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

struct Found {
  std::optional<fast::Coast> coast;
  sim::Cycles at = 0;
};

/// Runs a CTA whose one loop makes `trips` of 101 instructions, with the coaster behind each window, until it
/// leaves something out or the CTA ends.
Found run(std::uint32_t trips) {
  const hw::HwConfig config = test_config();
  const trace::Trace trace{
      {},
      {one_program(Program().begin_loop(0).op(FFMA, 100).end_loop().exit().build_controlled(), 1, 1,
                   {trips})}};
  const sm::DecodedLaunch decoded = sm::decode(config, trace, trace.launches[0]);
  std::vector<sm::SentRequest> sent;
  sm::SmCore core(config, trace, decoded, 1, sent);
  core.install(0, {&trace.launches[0].classes[0], {0, 0, 0}, false}, 0);
  fast::LoopPaces paces;
  fast::Coaster coaster(decoded, paces);
  coaster.begin(0);
  std::vector<sm::Completion> completions;
  for (std::int32_t end = 64; !core.idle() && end < 1 << 24; end += 64) {
    core.run_until(end, completions);
    if (std::optional<fast::Coast> coast = coaster.consider(core, core.counters(), 0, end)) {
      return {std::move(coast), end};
    }
  }
  return {};
}

TEST(Coaster, LeavesOutTwiceAsManyAsWentOnEvenly) {
  const Found found = run(1000);
  ASSERT_TRUE(found.coast.has_value());
  ASSERT_EQ(found.coast->iterations.size(), 1U);
  const double iteration = 101 + test_config().sm.issue.branch_cycles;
  const double passed = static_cast<double>(found.at) / iteration;
  EXPECT_LT(passed, 32) << "it goes on evenly from the start";
  EXPECT_NEAR(found.coast->iterations[0], 2 * passed, 4);
  EXPECT_NEAR(static_cast<double>(found.coast->cycles), found.coast->iterations[0] * iteration, iteration);
  EXPECT_EQ(found.coast->loops, std::vector<int>{0});
}

TEST(Coaster, CountsWhatItLeavesOutLikeWhatCameBefore) {
  const Found found = run(1000);
  ASSERT_TRUE(found.coast.has_value());
  const double issued = static_cast<double>(
      found.coast->measured.stall_warp_cycles[static_cast<std::size_t>(metrics::Stall::selected)]);
  EXPECT_NEAR(issued * found.coast->repeats, found.coast->iterations[0] * 101.0, 0.03 * 101 * 1000);
}

TEST(Coaster, ExecutesShortLoopsWhole) {
  EXPECT_FALSE(run(8).coast.has_value());
}

}  // namespace
}  // namespace warpscope::test
