// The backward pass of FlashAttention-1 with numbers, against gradients in double precision.
#include <gtest/gtest.h>

#include <string>

#include "kernels/machine/plan.hpp"
#include "kernels/numeric/check_numbers.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

// Few heads fill one SM, so that a CTA takes a whole head; on 132 they are sequence-parallel.
constexpr GpuLimits kOneSm{9, 0, 1, 228 * 1024, 227 * 1024, 0};
constexpr GpuLimits kOneSmall{8, 6, 1, 100 * 1024, 99 * 1024, 0};
constexpr Pass kBackward = Pass::backward;
constexpr DataType kHalf = DataType::fp16;

struct Case {
  const char* name;
  std::size_t launches;
  Problem problem;
  GpuLimits gpu = kOneSm;
};

// One, two and more key blocks; rows and keys that no tile divides; V in shared memory and in registers.
const std::vector<Case> kCases = {
    {"d64_one_block", 1, {1, 2, 2, 100, 250, 64, false, kHalf, kBackward}},
    {"d64_short", 1, {1, 1, 1, 33, 90, 64, false, kHalf, kBackward}},
    {"d64_two_blocks", 1, {2, 1, 1, 130, 333, 64, false, kHalf, kBackward}},
    {"d64_causal", 1, {1, 1, 1, 777, 777, 64, true, kHalf, kBackward}},
    {"d64_causal_one_block", 1, {1, 1, 1, 201, 201, 64, true, kHalf, kBackward}},
    {"d64_v_in_registers", 1, {1, 1, 1, 49, 300, 64, false, kHalf, kBackward}, kOneSmall},
    {"d64_parallel", 4, {1, 2, 2, 130, 600, 64, false, kHalf, kBackward}, kH200},
    {"d64_parallel_causal", 4, {1, 1, 1, 600, 600, 64, true, kHalf, kBackward}, kH200},
    {"d32", 1, {1, 1, 1, 100, 520, 32, false, kHalf, kBackward}},
    {"d32_causal", 1, {1, 2, 2, 530, 530, 32, true, kHalf, kBackward}},
    {"d32_parallel", 4, {1, 2, 2, 70, 333, 32, false, kHalf, kBackward}, kA100},
    {"d40_padded", 1, {1, 1, 1, 77, 280, 40, false, kHalf, kBackward}},
    {"d128", 1, {1, 1, 1, 65, 400, 128, false, kHalf, kBackward}},
    {"d128_causal_bf16", 1, {1, 1, 1, 500, 500, 128, true, DataType::bf16, kBackward}},
    {"d128_parallel_causal", 4, {1, 2, 2, 300, 300, 128, true, kHalf, kBackward}, kA100},
    {"d72_parallel", 4, {2, 1, 1, 50, 140, 72, false, kHalf, kBackward}, kH200},
    {"both_passes", 1, {1, 1, 1, 290, 290, 64, true, kHalf, Pass::both}},
    {"both_passes_parallel", 4, {1, 1, 1, 290, 290, 128, true, kHalf, Pass::both}, kH200},
};

class Fa1BackwardNumbers : public testing::TestWithParam<Case> {};

TEST_P(Fa1BackwardNumbers, GradientsMeetTheTolerance) {
  const Case& c = GetParam();
  const Kernel kernel = find_kernel("fa1");
  Problem backward = c.problem;
  backward.pass = kBackward;
  EXPECT_EQ(kernel.plan(backward, c.gpu).launches.size(), c.launches);
  const NumberCheck check = check_numbers(kernel, c.problem, c.gpu);
  EXPECT_EQ(check.outputs.size(), c.problem.pass == Pass::both ? 4U : 3U);
  for (const OutputCheck& output : check.outputs) {
    EXPECT_TRUE(output.passed()) << output.tensor << ": " << output.largest_error << " above "
                                 << output.tolerance;
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Fa1BackwardNumbers, testing::ValuesIn(kCases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(Fa1BackwardNumbersFail, WithoutAnyOfTheLaunches) {
  const Problem problem{1, 1, 1, 64, 300, 64, false, kHalf, kBackward};
  ASSERT_EQ(find_kernel("fa1").plan(problem, kH200).launches.size(), 4U);
  for (std::ptrdiff_t launch = 0; launch < 4; ++launch) {
    Kernel kernel = find_kernel("fa1");
    kernel.plan = [right = kernel.plan, launch](const Problem& one, const GpuLimits& limits) {
      KernelPlan plan = right(one, limits);
      plan.launches.erase(plan.launches.begin() + launch);
      return plan;
    };
    EXPECT_FALSE(check_numbers(kernel, problem, kH200).passed()) << launch;
  }
}

}  // namespace
}  // namespace warpscope::tests
