// Numbers of standard attention on the numeric machine against attention in double precision.
#include <gtest/gtest.h>

#include <string>

#include "kernels/standard/standard.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/reference_attention.hpp"

namespace warpscope::tests {
namespace {

using kernels::DataType;
using kernels::GpuLimits;
using kernels::KernelPlan;
using kernels::Problem;

using Plan = KernelPlan (*)(const Problem&, const GpuLimits&);

/// Largest error of O. Scores and probabilities are rounded to the 16-bit type on their way through memory.
double error_of(Plan plan, const Problem& problem, float amplitude = 1.0F) {
  kernels::TensorValues inputs = random_inputs(problem, 1, amplitude);
  const ReferenceOutput want = reference_attention(problem, inputs);
  if (plan == &kernels::plan_standard_eager && problem.causal) {
    std::vector<float>& mask = inputs["causal_mask"];
    for (std::int64_t i = 0; i < problem.seqlen_q; ++i) {
      for (std::int64_t j = 0; j < problem.seqlen_k; ++j) {
        mask.push_back(j > i + problem.seqlen_k - problem.seqlen_q ? 1.0F : 0.0F);
      }
    }
  }
  return largest_error(run_numeric(plan(problem, kA100), inputs).tensors.at("O"), want.output);
}

TEST(StandardNumbers, OddLengths) {
  for (const Plan plan : {&kernels::plan_standard, &kernels::plan_standard_eager}) {
    for (const std::int64_t q : {1, 17, 129, 200}) {
      for (const std::int64_t k : {1, 31, 129, 300}) {
        EXPECT_LE(error_of(plan, {1, 2, 2, q, k, 64, false}), 1.0e-3) << q << " x " << k;
      }
    }
  }
}

TEST(StandardNumbers, CausalAlignsToTheBottomRight) {
  for (const Plan plan : {&kernels::plan_standard, &kernels::plan_standard_eager}) {
    for (const std::int64_t q : {1, 33, 130}) {
      for (const std::int64_t extra : {0, 1, 77}) {
        EXPECT_LE(error_of(plan, {1, 1, 1, q, q + extra, 64, true}), 1.0e-3) << q << " + " << extra;
      }
    }
  }
}

TEST(StandardNumbers, SeveralSequencesAreKeptApart) {
  EXPECT_LE(error_of(&kernels::plan_standard, {3, 2, 2, 70, 70, 40, true}), 1.0e-3);
  // The transposing copy in one, in two and in ragged pieces of 512 keys.
  for (const std::int64_t k : {512, 1024, 700}) {
    EXPECT_LE(error_of(&kernels::plan_standard, {2, 1, 1, 5, k, 24, false}), 1.0e-3) << k;
  }
  EXPECT_LE(error_of(&kernels::plan_standard_eager, {3, 2, 2, 70, 70, 40, true}), 1.0e-3);
}

TEST(StandardNumbers, EveryHeadDimension) {
  for (std::int64_t d = 8; d <= 256; d += 8) {
    EXPECT_LE(error_of(&kernels::plan_standard, {1, 1, 1, 33, 70, d, false}), 1.0e-3) << d;
  }
}

TEST(StandardNumbers, LongRowsTakeTheBlockSoftmax) {
  for (const std::int64_t k : {1025, 2048, 2049, 5000, 30000}) {
    EXPECT_LE(error_of(&kernels::plan_standard, {1, 1, 1, 3, k, 16, true}), 1.0e-3) << k;
  }
  EXPECT_LE(error_of(&kernels::plan_standard_eager, {1, 1, 1, 3, 2049, 16, true}), 1.0e-3);
}

TEST(StandardNumbers, BrainFloat) {
  Problem problem{1, 2, 2, 100, 130, 64, true};
  problem.dtype = DataType::bf16;
  EXPECT_LE(error_of(&kernels::plan_standard, problem), 8.0e-3);
  EXPECT_LE(error_of(&kernels::plan_standard_eager, problem), 8.0e-3);
}

TEST(StandardNumbers, LargeScoresKeepWhatRoundingTheScoresLeaves) {
  // Scores of some hundreds are rounded to 1/8 or so, which shifts weights by as much; nothing overflows.
  const Problem problem{1, 1, 1, 64, 64, 64, false};
  EXPECT_LE(error_of(&kernels::plan_standard, problem, 12.0F), 12.0 * 0.25);
}

TEST(StandardNumbers, FlopsAreThoseOfTheWholeProduct) {
  // Tiles of 128 x 128 and 128 x 64 cover 256 x 256 x 64 exactly, so that counted equals 4 N^2 d.
  const Problem problem{1, 1, 1, 256, 256, 64, false};
  const kernels::NumericResult result =
      run_numeric(kernels::plan_standard(problem, kA100), random_inputs(problem, 1));
  EXPECT_EQ(result.flops.matmul, 4LL * 256 * 256 * 64);
  EXPECT_EQ(result.flops.exponential, 256LL * 256);
}

}  // namespace
}  // namespace warpscope::tests
