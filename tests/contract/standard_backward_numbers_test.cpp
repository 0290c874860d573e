// Gradients of standard attention on the numeric machine against gradients in double precision.
#include <gtest/gtest.h>

#include <string>

#include "kernels/machine/plan.hpp"
#include "kernels/numeric/check_numbers.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

constexpr const char* kBoth[] = {"standard", "standard_eager"};

/// The largest error of each gradient stays within one unit in the last place per rounding.
void expect_right(const std::string& kernel, Problem problem, Pass pass = Pass::backward) {
  problem.pass = pass;
  const NumberCheck check = check_numbers(find_kernel(kernel), problem, kA100);
  ASSERT_EQ(check.outputs.size(), pass == Pass::both ? 4U : 3U);
  for (const OutputCheck& output : check.outputs) {
    EXPECT_LE(output.largest_error, output.tolerance)
        << kernel << " " << output.tensor << " " << problem.seqlen_q << " x " << problem.seqlen_k << " d "
        << problem.head_dim;
    EXPECT_GT(output.largest_error, 0) << output.tensor;  // that something was rounded, and so computed
  }
}

TEST(StandardGradients, OddLengths) {
  for (const char* kernel : kBoth) {
    for (const std::int64_t q : {2, 17, 129, 200}) {
      for (const std::int64_t k : {3, 31, 129, 300}) {
        expect_right(kernel, {1, 2, 2, q, k, 64, false});
      }
    }
  }
}

TEST(StandardGradients, CausalAlignsToTheBottomRight) {
  for (const char* kernel : kBoth) {
    for (const std::int64_t q : {5, 33, 130}) {
      for (const std::int64_t extra : {0, 1, 77}) {
        expect_right(kernel, {1, 1, 1, q, q + extra, 64, true});
      }
    }
  }
}

TEST(StandardGradients, EveryHeadDimension) {
  for (const char* kernel : kBoth) {
    for (std::int64_t d = 8; d <= 256; d += 24) {
      expect_right(kernel, {1, 1, 1, 33, 70, d, false});
    }
    expect_right(kernel, {1, 1, 1, 64, 70, 128, true});
    expect_right(kernel, {1, 1, 1, 64, 70, 256, true});
  }
}

TEST(StandardGradients, SeveralSequencesAreKeptApartWithACopyOfKTransposed) {
  for (const char* kernel : kBoth) {
    expect_right(kernel, {3, 2, 2, 70, 90, 40, true});
    expect_right(kernel, {2, 1, 1, 64, 64, 64, false});  // a square K, which its transpose looks like
  }
}

TEST(StandardGradients, LongRowsTakeTheBlockSoftmax) {
  for (const std::int64_t k : {1024, 1025, 2048, 2052, 25000}) {
    for (const char* kernel : kBoth) {
      expect_right(kernel, {1, 1, 1, 3, k, 16, false});
    }
  }
}

TEST(StandardGradients, FollowTheForwardPassInOneRun) {
  for (const char* kernel : kBoth) {
    expect_right(kernel, {2, 1, 1, 50, 66, 64, true}, Pass::both);
  }
}

TEST(StandardGradients, BrainFloat) {
  Problem problem{1, 2, 2, 100, 130, 64, true};
  problem.dtype = DataType::bf16;
  for (const char* kernel : kBoth) {
    expect_right(kernel, problem);
  }
}

TEST(StandardGradients, FlopsAreThoseOfFourProducts) {
  // Tiles cover 256 x 256 x 64 exactly; the scores are not computed again.
  for (const char* kernel : kBoth) {
    Problem problem{1, 1, 1, 256, 256, 64, true};
    problem.pass = Pass::backward;
    const NumberCheck check = check_numbers(find_kernel(kernel), problem, kA100);
    EXPECT_EQ(check.flops.matmul, 8LL * 256 * 256 * 64) << kernel;
    EXPECT_EQ(check.flops.exponential, 0) << kernel;
  }
}

TEST(StandardGradients, AWrongGradientIsFound) {
  Kernel kernel = find_kernel("standard_eager");
  kernel.plan = [right = kernel.plan](const Problem& problem, const GpuLimits& limits) {
    KernelPlan plan = right(problem, limits);
    std::erase_if(plan.launches, [](const LaunchPlan& launch) { return launch.name.starts_with("dq_gemm"); });
    return plan;
  };
  Problem problem{1, 1, 1, 40, 40, 64, false};
  problem.pass = Pass::backward;
  const NumberCheck check = check_numbers(kernel, problem, kA100);
  EXPECT_FALSE(check.passed());
  EXPECT_FALSE(check.outputs.at(0).passed());
  EXPECT_TRUE(check.outputs.at(1).passed());
}

}  // namespace
}  // namespace warpscope::tests
