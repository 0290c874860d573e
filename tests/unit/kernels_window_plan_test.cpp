// FA2 with a window: which key blocks its CTAs visit, and what is refused.
#include <gtest/gtest.h>

#include "kernels/fa2/fa2.hpp"
#include "kernels/fa2/key_splits.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::KeyWindow;
using kernels::Problem;

Problem problem_of(std::int64_t tokens, std::int64_t head_dim, const KeyWindow& window) {
  Problem problem{1, 1, 1, tokens, tokens, head_dim, false};
  problem.window = window;
  return problem;
}

TEST(WindowPlan, CtasVisitTheBlocksThatTheWindowTouches) {
  // 128 x 64 scores: queries 512 to 639 with 100 keys before and 30 behind see keys 412 to 669, blocks 6 to
  // 10.
  const auto launch = kernels::plan_fa2(problem_of(1024, 128, {100, 30}), kH200).launches.at(0);
  const auto& visits = launch.classes.at(launch.class_of_block[0].at(4));
  EXPECT_EQ(visits.symbols.at(0), 10);
  // 5 blocks, of which ceil(128 / 64) + 1 are unrolled.
  EXPECT_EQ(visits.trip_counts.at(0), 2U);
  const auto& first = launch.classes.at(launch.class_of_block[0].at(0));
  EXPECT_EQ(first.symbols.at(0), 2);
  EXPECT_EQ(first.trip_counts, (std::vector<std::uint32_t>{0, 1, 1, 0}));
}

TEST(WindowPlan, ACausalWindowIsTheCausalKernel) {
  const auto name = [](const Problem& problem) {
    return kernels::plan_fa2(problem, kH200).launches.at(0).name;
  };
  EXPECT_EQ(name(problem_of(1024, 128, {-1, 0})), "flash_fwd_kernel<128, 128, 64, 4, causal>");
  EXPECT_EQ(name(problem_of(1024, 128, {2000, 2000})), "flash_fwd_kernel<128, 128, 64, 4>");
  EXPECT_EQ(name(problem_of(1024, 128, {200, 0})), "flash_fwd_kernel<128, 128, 64, 4, local>");
  Problem causal = problem_of(1024, 128, {200, 500});
  causal.causal = true;
  EXPECT_EQ(kernels::fa2::as_called(causal).window, (KeyWindow{200, 0}));
  EXPECT_FALSE(kernels::fa2::as_called(causal).causal);
}

TEST(WindowPlan, RefusesWhatIsNotModelled) {
  const auto refusal = [](const char* kernel, const Problem& problem) -> std::string {
    try {
      kernels::find_kernel(kernel).build(problem, kH200);
    } catch (const kernels::UnsupportedProblem& error) {
      return error.what();
    }
    return {};
  };
  const Problem window = problem_of(256, 64, {30, 0});
  EXPECT_EQ(refusal("xformers", window),
            "kernel xformers does not have a window; kernels that do: fa2, fa2_torch");
  Problem capped{1, 1, 1, 256, 256, 64, false};
  capped.softcap = 30;
  EXPECT_EQ(refusal("fa1", capped), "kernel fa1 does not have softcap; kernels that do: fa2, fa2_torch");
  Problem backward = window;
  backward.pass = kernels::Pass::backward;
  EXPECT_EQ(refusal("fa2", backward),
            "fa2 has a window, softcap and ALiBi in its forward pass only, as it is modelled");
  Problem split = window;
  split.num_splits = 3;
  EXPECT_EQ(refusal("fa2", split),
            "fa2 with keys in 3 parts (num_splits) is modelled without a window, softcap and ALiBi; "
            "num_splits 1 has them");
}

}  // namespace
}  // namespace warpscope::tests
