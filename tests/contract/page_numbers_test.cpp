// FlashAttention-2 on K and V in pages, against attention in double precision through the same table.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/page_table.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/reference_attention.hpp"

namespace warpscope::tests {
namespace {

using kernels::Problem;

Problem problem_of(std::int64_t batch, std::int64_t heads, std::int64_t heads_kv, std::int64_t queries,
                   std::int64_t keys, std::int64_t head_dim, std::int64_t splits) {
  Problem problem{batch, heads, heads_kv, queries, keys, head_dim, false};
  problem.num_splits = splits;
  problem.page_size = 256;
  return problem;
}

void expect_attention(const Problem& problem, const char* kernel) {
  SCOPED_TRACE(std::to_string(problem.seqlen_k) + " keys, d " + std::to_string(problem.head_dim));
  const kernels::TensorValues inputs = random_inputs(problem, 1);
  const auto got = run_numeric(kernels::find_kernel(kernel).plan(problem, kH100), inputs).tensors;
  EXPECT_LE(largest_error(got.at("O"), reference_attention(problem, inputs).output), 0x1p-10);
}

TEST(PageNumbers, KeysAreFoundThroughTheTable) {
  expect_attention(problem_of(2, 2, 2, 1, 1024, 128, 1), "fa2_kvcache");
  expect_attention(problem_of(3, 4, 2, 1, 900, 64, 1), "fa2_kvcache");
  expect_attention(problem_of(2, 4, 1, 1, 1100, 128, 3), "fa2");
  expect_attention(problem_of(2, 2, 1, 70, 700, 64, 2), "fa2_kvcache");
  expect_attention(problem_of(2, 2, 1, 3, 600, 256, 2), "fa2");
  Problem causal = problem_of(2, 2, 1, 100, 1300, 64, 1);
  causal.causal = true;
  causal.page_size = 512;
  expect_attention(causal, "fa2");
}

TEST(PageNumbers, PagesAreNotWhereTheyWouldBeWithoutATable) {
  const Problem problem = problem_of(4, 1, 1, 1, 2000, 64, 1);
  const std::vector<float> table = kernels::page_table(problem);
  ASSERT_EQ(table.size(), 4U * 8U);
  std::vector<float> sorted = table;
  std::ranges::sort(sorted);
  int moved = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ(sorted[i], static_cast<float>(i));
    moved += table[i] != sorted[i] ? 1 : 0;
    // The last page of a sequence has 208 keys and changes places with its like only.
    EXPECT_EQ(i % 8 == 7, static_cast<std::size_t>(table[i]) % 8 == 7);
  }
  EXPECT_GE(moved, 24);
  kernels::TensorValues inputs = random_inputs(problem, 1);
  const ReferenceOutput elsewhere = [&] {
    Problem together = problem;
    together.page_size = 0;
    return reference_attention(together, inputs);
  }();
  const auto got = run_numeric(kernels::find_kernel("fa2_kvcache").plan(problem, kH100), inputs).tensors;
  EXPECT_GT(largest_error(got.at("O"), elsewhere.output), 0.01);
}

TEST(PageNumbers, RefusesWhatIsNotModelled) {
  const auto refusal = [](const char* kernel, const Problem& problem) -> std::string {
    try {
      kernels::find_kernel(kernel).build(problem, kH200);
    } catch (const kernels::UnsupportedProblem& error) {
      return error.what();
    }
    return {};
  };
  Problem problem = problem_of(1, 1, 1, 1, 1024, 64, 1);
  EXPECT_EQ(refusal("fa2", problem), "");
  EXPECT_EQ(refusal("fa2_torch", problem),
            "kernel fa2_torch does not have pages; kernels that do: fa2, fa2_kvcache");
  problem.page_size = 16;
  EXPECT_EQ(refusal("fa2_kvcache", problem), "fa2 takes pages of a multiple of 256 keys (page_size), not 16");
  problem.page_size = 256;
  problem.dropout = 0.1;
  EXPECT_EQ(
      refusal("fa2", problem),
      "fa2 with pages (page_size) is modelled without sequences of their own lengths, dropout, a window, "
      "softcap and ALiBi");
}

}  // namespace
}  // namespace warpscope::tests
