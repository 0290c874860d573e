// FlashAttention-2 on sequences of their own lengths, against attention in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/numeric/check_numbers.hpp"
#include "kernels/unsupported.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/reference_attention.hpp"

namespace warpscope::tests {
namespace {

using kernels::Problem;

Problem problem_of(const std::vector<std::int64_t>& lengths, std::int64_t head_dim, bool causal) {
  const std::int64_t longest = std::ranges::max(lengths);
  Problem problem{std::ssize(lengths), 2, 2, longest, longest, head_dim, causal};
  problem.seqlens = lengths;
  return problem;
}

void expect_attention(const Problem& problem, const char* kernel = "fa2") {
  SCOPED_TRACE(std::to_string(problem.head_dim) + (problem.causal ? " causal" : ""));
  const kernels::TensorValues inputs = random_inputs(problem, 1);
  const auto got = run_numeric(kernels::find_kernel(kernel).plan(problem, kH100), inputs).tensors;
  const ReferenceOutput want = reference_attention(problem, inputs);
  EXPECT_LE(largest_error(got.at("O"), want.output), 0x1p-10);
  EXPECT_LE(largest_error(got.at("LSE"), want.lse), 1e-4);
  // Rows that a sequence does not have are nobody's.
  const auto total = std::accumulate(problem.seqlens.begin(), problem.seqlens.end(), std::int64_t{0});
  const auto written = std::ranges::count_if(got.at("LSE"), [](float value) { return !std::isnan(value); });
  EXPECT_EQ(written, total * problem.heads);
}

TEST(LengthsNumbers, EachSequenceForItself) {
  for (const bool causal : {false, true}) {
    for (const std::int64_t d : {64, 128}) {
      expect_attention(problem_of({300, 1, 128, 77}, d, causal));
      expect_attention(problem_of({64, 129, 256}, d, causal));
    }
    expect_attention(problem_of({130, 40}, 256, causal));
    expect_attention(problem_of({130, 40}, 32, causal));
  }
  expect_attention(problem_of({33}, 64, true));
  expect_attention(problem_of({200, 33}, 128, false), "fa2_torch");
}

TEST(LengthsNumbers, AreCheckedByTheCommand) {
  const auto check = [](const char* kernel, const Problem& problem) {
    return check_numbers(kernels::find_kernel(kernel), problem, kH100, 1).passed();
  };
  EXPECT_TRUE(check("fa2", problem_of({100, 37, 200}, 64, true)));
  Problem paged{3, 2, 2, 1, 900, 128, false};
  paged.page_size = 256;
  EXPECT_TRUE(check("fa2_kvcache", paged));
}

TEST(LengthsNumbers, WithWindowsSoftcapAlibiAndSharedKeys) {
  Problem problem = problem_of({300, 20, 140}, 64, true);
  problem.heads_kv = 1;
  expect_attention(problem);
  problem.window = {50, 0};
  expect_attention(problem);
  problem.window = {};
  problem.causal = false;
  problem.softcap = 2;
  expect_attention(problem);
  problem.softcap = 0;
  problem.alibi = true;
  expect_attention(problem);
}

TEST(LengthsNumbers, TheTableOfTheBatchMustAgreeWithTheClasses) {
  const Problem problem = problem_of({40, 60}, 64, false);
  kernels::TensorValues inputs = random_inputs(problem, 1);
  inputs["cu_seqlens"] = {0, 40, 101};
  EXPECT_THROW(run_numeric(kernels::find_kernel("fa2").plan(problem, kH100), inputs), std::logic_error);
}

// 3 blocks of 128 queries for 2 heads of 4 sequences; those that exist: 3, 1, 1, 1.
TEST(LengthsNumbers, CtasBehindASequenceReadItsEndsAndLeave) {
  const kernels::KernelPlan plan =
      kernels::find_kernel("fa2").plan(problem_of({300, 1, 128, 77}, 64, false), kH100);
  const kernels::LaunchPlan& launch = plan.launches.at(0);
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{3, 4, 2}));
  int beyond = 0;
  for (const std::uint32_t x : launch.class_of_block[0]) {
    for (const std::uint32_t y : launch.class_of_block[1]) {
      beyond += launch.classes.at(x + y).program == 2 ? 1 : 0;
    }
  }
  EXPECT_EQ(beyond, 6);
  // Of 2 heads of 4 sequences of 300 rows 506 exist.
  EXPECT_EQ(plan.tensors.at(0).absent_rows, 2 * (4 * 300 - 506));
}

TEST(LengthsNumbers, RefusesWhatIsNotModelled) {
  const auto refusal = [](const char* kernel, const Problem& problem) -> std::string {
    try {
      kernels::find_kernel(kernel).build(problem, kH200);
    } catch (const kernels::UnsupportedProblem& error) {
      return error.what();
    }
    return {};
  };
  Problem problem = problem_of({40, 60}, 64, false);
  EXPECT_EQ(refusal("fa1", problem),
            "kernel fa1 does not have sequences of their own lengths; kernels that do: fa2, fa2_torch");
  problem.pass = kernels::Pass::backward;
  EXPECT_EQ(refusal("fa2", problem),
            "fa2 has sequences of their own lengths (seqlens) in its forward pass only, as it is modelled");
  problem.pass = kernels::Pass::forward;
  problem.num_splits = 2;
  EXPECT_EQ(refusal("fa2", problem),
            "fa2 with sequences of their own lengths (seqlens) keeps the keys in one part, not num_splits 2");
}

}  // namespace
}  // namespace warpscope::tests
