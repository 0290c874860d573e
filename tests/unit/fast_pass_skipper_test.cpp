// What leaving out passes does to the warps of a CTA.
#include "model/fast/pass_skipper.hpp"

#include <gtest/gtest.h>

#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

// A barrier in the loop binds the warps together: one that had another trip to make would wait for ever.
TEST(PassSkipper, WarpsOfAShorterPassHaveAsManyTripsToMake) {
  const hw::HwConfig config = test_config();
  Program program;
  program.begin_loop(0).begin_loop(1, {-2, 0, 0}).op(FFMA, 20).end_loop().end_loop().exit();
  const trace::Trace trace{{}, {one_program(program.build_controlled(), 2, 1, {20, 40})}};
  const sm::DecodedLaunch decoded = sm::decode(config, trace, trace.launches[0]);
  std::vector<sm::SentRequest> sent;
  sm::SmCore core(config, trace, decoded, 1, sent);
  core.install(0, {&trace.launches[0].classes[0], {0, 0, 0}, false}, 0);
  std::vector<sm::Completion> completions;
  core.run_until(100, completions);
  ASSERT_EQ(core.loop_counters_of(0).trips[1], 40U) << "both warps are in the first pass";
  core.loop_counters()[0].iteration[1] = 5;
  core.loop_counters()[1].iteration[1] = 6;
  fast::SkippedPasses skipped;
  skipped.passes = 20;
  fast::PassSkipper(decoded, 128, 1 << 20).advance(core, skipped);
  for (int warp = 0; warp < 2; ++warp) {
    EXPECT_EQ(core.loop_counters_of(warp).iteration[0], 20U);
    EXPECT_EQ(core.loop_counters_of(warp).iteration[1], static_cast<std::uint32_t>(warp)) << "one apart";
    EXPECT_EQ(core.loop_counters_of(warp).trips[1], 2U) << warp;
  }
}

}  // namespace
}  // namespace warpscope::test
