// Triton's attention with numbers, against attention and gradients in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/machine/plan.hpp"
#include "kernels/numeric/check_numbers.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/reference_attention.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

struct Case {
  const char* name;
  Problem problem;
  std::size_t launches = 1;
  const char* kernel = "triton";
};

constexpr DataType kHalf = DataType::fp16;
constexpr DataType kBrain = DataType::bf16;

// One, two and more blocks; both ways to apply a causal mask.
const std::vector<Case> kForward = {
    {"d16", {1, 1, 1, 384, 384, 16}},
    {"d32_causal", {1, 2, 2, 256, 256, 32, true}},
    {"d64_one_block", {2, 2, 2, 128, 128, 64}},
    {"d64", {1, 2, 2, 512, 512, 64}},
    {"d64_causal", {1, 2, 2, 384, 384, 64, true}},
    {"d64_causal_two_launches", {1, 1, 1, 2176, 2176, 64, true}, 2},
    {"d64_bf16", {1, 1, 1, 256, 256, 64, true, kBrain}},
    {"d128", {1, 1, 1, 384, 384, 128}},
    {"d128_causal", {1, 1, 1, 384, 384, 128, true}},
    {"d128_causal_two_launches", {1, 1, 1, 2176, 2176, 128, true}, 2},
};

// A block and more, with fewer rows of dQ^T than warps have and as many.
std::vector<Case> backward_cases(const char* kernel) {
  constexpr Pass kBackward = Pass::backward;
  return {
      {"d16_causal", {1, 1, 1, 384, 384, 16, true, kHalf, kBackward}, 4, kernel},
      {"d32", {1, 2, 2, 256, 256, 32, false, kHalf, kBackward}, 4, kernel},
      {"d64_one_block", {2, 1, 1, 128, 128, 64, false, kHalf, kBackward}, 4, kernel},
      {"d64", {1, 1, 1, 640, 640, 64, false, kHalf, kBackward}, 4, kernel},
      {"d64_causal", {1, 2, 2, 384, 384, 64, true, kHalf, kBackward}, 4, kernel},
      {"d128", {1, 1, 1, 256, 256, 128, false, kHalf, kBackward}, 4, kernel},
      {"d128_causal_bf16", {1, 1, 1, 256, 256, 128, true, kBrain, kBackward}, 4, kernel},
      {"both_passes", {1, 1, 1, 384, 384, 64, true, kHalf, Pass::both}, 5, kernel},
  };
}

void expect_right(const Case& c) {
  const Kernel kernel = find_kernel(c.kernel);
  EXPECT_EQ(kernel.build(c.problem, kA100).launches.size(), c.launches);
  for (const OutputCheck& output : check_numbers(kernel, c.problem, kA100).outputs) {
    EXPECT_TRUE(output.passed()) << output.tensor << ": " << output.largest_error << " above "
                                 << output.tolerance;
  }
}

class TritonNumbers : public testing::TestWithParam<Case> {};

TEST_P(TritonNumbers, MeetTheTolerance) {
  expect_right(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Forward, TritonNumbers, testing::ValuesIn(kForward),
                         [](const auto& tested) { return std::string(tested.param.name); });

INSTANTIATE_TEST_SUITE_P(Backward, TritonNumbers, testing::ValuesIn(backward_cases("triton")),
                         [](const auto& tested) { return std::string(tested.param.name); });
INSTANTIATE_TEST_SUITE_P(BackwardParallel, TritonNumbers, testing::ValuesIn(backward_cases("triton_seqpar")),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(TritonNumbers, RowStatisticsAreTheSoftmaxs) {
  for (const std::int64_t n : {384, 2304}) {
    const Problem problem{1, 1, 1, n, n, 32, true, kHalf};
    const TensorValues inputs = random_inputs(problem, 3);
    const TensorValues got = run_numeric(find_kernel("triton").plan(problem, kA100), inputs).tensors;
    const ReferenceOutput want = reference_attention(problem, inputs);
    for (std::size_t row = 0; row < want.lse.size(); ++row) {
      const double log2_of_sum = static_cast<double>(got.at("row_max")[row]) +
                                 std::log2(static_cast<double>(got.at("row_sum")[row]));
      // Scaled queries are rounded to fp16: 2^-11 of scores up to 3.
      EXPECT_NEAR(log2_of_sum, want.lse[row] / std::log(2.0), 2e-3) << row;
    }
    EXPECT_EQ(got.at("row_sum")[0], 1.0F) << "the first query sees one key";
  }
}

}  // namespace
}  // namespace warpscope::tests
