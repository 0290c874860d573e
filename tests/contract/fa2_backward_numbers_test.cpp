// The backward pass of FlashAttention-2 with numbers, against gradients in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/machine/plan.hpp"
#include "kernels/numeric/attention.hpp"
#include "kernels/numeric/check_numbers.hpp"
#include "kernels/numeric/run_numeric.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

struct Case {
  const char* name;
  const char* kernel;
  Problem problem;
  GpuLimits gpu = kH200;
};

constexpr Pass kBackward = Pass::backward;
constexpr DataType kHalf = DataType::fp16;

// Every tile of the table that A100 and H100 use, and those of small shared memory that fit into registers.
const std::vector<Case> kCases = {
    {"d64", "fa2", {1, 2, 2, 256, 256, 64, false, kHalf, kBackward}},
    {"d64_causal", "fa2", {2, 1, 1, 256, 256, 64, true, kHalf, kBackward}},
    {"d64_more_keys", "fa2", {1, 1, 1, 200, 333, 64, true, kHalf, kBackward}},
    {"d64_rows_without_keys", "fa2", {1, 1, 1, 333, 200, 64, true, kHalf, kBackward}},
    {"d64_small_shared", "fa2", {1, 1, 1, 130, 170, 64, false, kHalf, kBackward}, kRtx3090},
    {"d32_ragged", "fa2", {1, 1, 1, 130, 70, 32, false, kHalf, kBackward}},
    {"d40_padded", "fa2", {1, 1, 1, 100, 130, 40, true, kHalf, kBackward}},
    {"d96", "fa2", {1, 1, 1, 130, 170, 96, true, kHalf, kBackward}, kA100},
    {"d128_grouped_bf16", "fa2", {1, 4, 2, 200, 200, 128, true, DataType::bf16, kBackward}},
    {"d128_even", "fa2", {1, 1, 1, 128, 256, 128, false, kHalf, kBackward}, kA100},
    {"d128_small_shared", "fa2", {1, 1, 1, 130, 170, 128, false, kHalf, kBackward}, kRtx3090},
    {"d192", "fa2", {1, 1, 1, 130, 170, 192, true, kHalf, kBackward}, kA100},
    {"d256_a100", "fa2", {1, 1, 1, 130, 100, 256, true, kHalf, kBackward}, kA100},
    {"d256_h200", "fa2", {1, 1, 1, 130, 100, 256, false, kHalf, kBackward}},
    {"torch_multi_query", "fa2_torch", {1, 3, 1, 130, 170, 72, true, kHalf, kBackward}},
    {"both_passes", "fa2", {1, 2, 1, 130, 170, 64, true, kHalf, Pass::both}},
    {"torch_both_passes", "fa2_torch", {1, 1, 1, 190, 130, 128, true, kHalf, Pass::both}, kA100},
};

Problem deterministic(Problem problem) {
  problem.deterministic = true;
  return problem;
}

/// An H200 with few SMs: they and the heads decide how many CTAs share a head.
constexpr GpuLimits with_sms(GpuLimits gpu, int count) {
  gpu.sm_count = count;
  return gpu;
}

// All tiles; fewer CTAs per head than key blocks, one, and more; walks of causal masks that begin before the
// first query, whose first blocks have all queries.
const std::vector<Case> kDeterministicCases = {
    {"d32_long_keys", "fa2", deterministic({1, 2, 2, 200, 900, 32, true, kHalf, kBackward}),
     with_sms(kH200, 4)},
    {"d64", "fa2", deterministic({1, 2, 2, 640, 640, 64, false, kHalf, kBackward}), with_sms(kH200, 5)},
    {"d64_causal", "fa2", deterministic({2, 1, 1, 640, 640, 64, true, kHalf, kBackward}), with_sms(kH200, 4)},
    {"d64_one_cta", "fa2", deterministic({1, 2, 1, 333, 200, 64, true, kHalf, kBackward}),
     with_sms(kH200, 2)},
    {"d64_idle_ctas", "fa2", deterministic({1, 1, 1, 200, 300, 64, true, kHalf, kBackward}),
     with_sms(kH200, 7)},
    {"d96", "fa2", deterministic({1, 1, 1, 130, 470, 96, true, kHalf, kBackward}), with_sms(kA100, 3)},
    {"d128_grouped_bf16", "fa2", deterministic({1, 4, 2, 200, 600, 128, true, DataType::bf16, kBackward}),
     with_sms(kH200, 8)},
    {"d128_small_shared", "fa2", deterministic({1, 1, 1, 130, 370, 128, true, kHalf, kBackward}),
     with_sms(kRtx3090, 3)},
    {"d192", "fa2", deterministic({1, 1, 1, 130, 270, 192, true, kHalf, kBackward}), with_sms(kA100, 2)},
    {"d256", "fa2", deterministic({1, 1, 1, 130, 200, 256, true, kHalf, kBackward}), with_sms(kH200, 3)},
    {"torch", "fa2_torch", deterministic({1, 3, 1, 130, 470, 72, true, kHalf, kBackward}),
     with_sms(kH200, 7)},
    {"both_passes", "fa2", deterministic({1, 2, 1, 300, 300, 64, true, kHalf, Pass::both}),
     with_sms(kH200, 4)},
};

class Fa2BackwardNumbers : public testing::TestWithParam<Case> {};

TEST_P(Fa2BackwardNumbers, GradientsMeetTheTolerance) {
  const Case& c = GetParam();
  const NumberCheck check = check_numbers(find_kernel(c.kernel), c.problem, c.gpu);
  EXPECT_EQ(check.outputs.size(), c.problem.pass == Pass::both ? 4U : 3U);
  for (const OutputCheck& output : check.outputs) {
    EXPECT_TRUE(output.passed()) << output.tensor << ": " << output.largest_error << " above "
                                 << output.tolerance;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Fa2BackwardNumbers, testing::ValuesIn(kCases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

INSTANTIATE_TEST_SUITE_P(Deterministic, Fa2BackwardNumbers, testing::ValuesIn(kDeterministicCases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(Fa2DeterministicNumbers, EveryCtaOfAHeadHasACopyOfItsOwn) {
  const Problem problem = deterministic({1, 1, 1, 128, 300, 64, false, kHalf, kBackward});
  const KernelPlan plan = find_kernel("fa2").plan(problem, with_sms(kH200, 5));
  TensorValues inputs;
  std::uint32_t state = 1;
  for (const TensorSpec& tensor : plan.tensors) {
    if (tensor.kind == trace::TensorKind::input) {
      const auto elements = static_cast<std::size_t>(tensor.segments * tensor.rows * tensor.cols);
      inputs[tensor.name] = random_values(elements, tensor.type, state, 1.0F);
    }
  }
  const std::vector<float> sums = run_numeric(plan, inputs).tensors.at("dQ_sum");
  constexpr std::ptrdiff_t kCopy = 128 * 64;
  ASSERT_EQ(std::ssize(sums), 5 * kCopy);
  for (std::ptrdiff_t copy = 0; copy < 5; ++copy) {
    const auto first = sums.begin() + copy * kCopy;
    const auto zeros = std::count(first, first + kCopy, 0.0F);
    EXPECT_EQ(zeros, copy < 3 ? 0 : kCopy) << copy;  // three blocks of keys
  }
}

/// The kernel with its launch number `launch` left out.
Kernel without_launch(std::size_t launch) {
  Kernel kernel = find_kernel("fa2");
  kernel.plan = [right = kernel.plan, launch](const Problem& problem, const GpuLimits& limits) {
    KernelPlan plan = right(problem, limits);
    plan.launches.erase(plan.launches.begin() + static_cast<std::ptrdiff_t>(launch));
    return plan;
  };
  return kernel;
}

TEST(Fa2BackwardNumbersFail, WithoutAnyOfTheLaunches) {
  const Problem grouped{1, 2, 1, 64, 64, 64, false, kHalf, kBackward};
  ASSERT_EQ(find_kernel("fa2").plan(grouped, kH200).launches.size(), 5U);
  for (std::size_t launch = 0; launch < 5; ++launch) {
    EXPECT_FALSE(check_numbers(without_launch(launch), grouped, kH200).passed()) << launch;
  }
}

TEST(Fa2BackwardNumbersFail, WithoutAnyOfTheLaunchesOfTheDeterministicMode) {
  const Problem problem = deterministic({1, 1, 1, 300, 300, 64, false, kHalf, kBackward});
  const GpuLimits gpu = with_sms(kH200, 2);
  ASSERT_EQ(find_kernel("fa2").plan(problem, gpu).launches.size(), 4U);
  for (std::size_t launch = 0; launch < 4; ++launch) {
    EXPECT_FALSE(check_numbers(without_launch(launch), problem, gpu).passed()) << launch;
  }
}

TEST(Fa2BackwardNumbersFail, WithACopyOfTheSumsForgotten) {
  Kernel kernel = find_kernel("fa2");
  kernel.plan = [right = kernel.plan](const Problem& problem, const GpuLimits& limits) {
    KernelPlan plan = right(problem, limits);
    --plan.launches.back().classes.front().trip_counts.front();
    return plan;
  };
  EXPECT_FALSE(check_numbers(kernel, deterministic({1, 1, 1, 300, 300, 64, false, kHalf, kBackward}),
                             with_sms(kH200, 3))
                   .passed());
}

TEST(Fa2BackwardNumbersFail, WithASignedErrorOfTheScale) {
  Kernel kernel = find_kernel("fa2");
  kernel.plan = [right = kernel.plan](const Problem& problem, const GpuLimits& limits) {
    Problem other = problem;
    other.head_dim = 56;  // the same tile, but scores are scaled by 1 / sqrt(56)
    KernelPlan plan = right(problem, limits);
    plan.launches = right(other, limits).launches;
    return plan;
  };
  EXPECT_FALSE(check_numbers(kernel, {1, 1, 1, 64, 64, 64, false, kHalf, kBackward}, kH200).passed());
}

TEST(Fa2BackwardNumbersFail, NotForKernelsWithoutThePass) {
  EXPECT_THROW(check_numbers(find_kernel("fa2-lse"), {1, 1, 1, 64, 64, 64, false, kHalf, kBackward}, kH200),
               UnsupportedProblem);
}

}  // namespace
}  // namespace warpscope::tests
