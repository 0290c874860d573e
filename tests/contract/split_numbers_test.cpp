// Numbers of FlashAttention-2's split-KV kernels, against attention in double precision.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/reference_attention.hpp"

namespace warpscope::tests {
namespace {

using kernels::DataType;
using kernels::Problem;

Problem problem_of(std::int64_t queries, std::int64_t keys, std::int64_t splits, std::int64_t head_dim = 64,
                   bool causal = false) {
  Problem problem{2, 2, 2, queries, keys, head_dim, causal};
  problem.num_splits = splits;
  return problem;
}

Problem grouped(Problem problem, std::int64_t heads, std::int64_t heads_kv) {
  problem.heads = heads;
  problem.heads_kv = heads_kv;
  return problem;
}

void expect_attention(const std::string& kernel, const Problem& problem) {
  SCOPED_TRACE(kernel + " " + std::to_string(problem.seqlen_q) + "x" + std::to_string(problem.seqlen_k) +
               " d" + std::to_string(problem.head_dim) + (problem.causal ? " causal" : "") + " splits " +
               std::to_string(problem.num_splits));
  const kernels::TensorValues inputs = random_inputs(problem, 1);
  const ReferenceOutput want = reference_attention(problem, inputs);
  const auto got = run_numeric(kernels::find_kernel(kernel).plan(problem, kH100), inputs).tensors;
  const double unit = problem.dtype == DataType::fp16 ? 0x1p-10 : 0x1p-7;
  EXPECT_LE(largest_error(got.at("O"), want.output), unit);
  std::vector<double> lse = want.lse;
  if (kernel == "fa2_kvcache" || problem.num_splits > 1) {
    // As the library has it, both kernels leave +inf for rows without keys.
    std::ranges::replace(lse, -std::numeric_limits<double>::infinity(),
                         std::numeric_limits<double>::infinity());
  }
  EXPECT_LE(largest_error(got.at("LSE"), lse), 1.0e-5);
}

TEST(SplitNumbers, OddLengths) {
  for (const std::int64_t splits : {2, 3, 5}) {
    for (const std::int64_t keys : {257, 700, 1031}) {
      expect_attention("fa2", problem_of(1, keys, splits));
      expect_attention("fa2", problem_of(7, keys, splits, 128));
    }
    expect_attention("fa2", problem_of(65, 520, splits));
    expect_attention("fa2", problem_of(130, 520, splits, 128));
  }
}

TEST(SplitNumbers, EvenLengths) {
  expect_attention("fa2", problem_of(64, 1024, 4));
  expect_attention("fa2", problem_of(128, 512, 2, 128));
}

TEST(SplitNumbers, MorePartsThanKeyBlocks) {
  expect_attention("fa2", problem_of(3, 300, 9));
  expect_attention("fa2", problem_of(1, 100, 128, 128));
}

TEST(SplitNumbers, CausalMaskAlignedToTheEnd) {
  for (const std::int64_t splits : {2, 3, 6}) {
    expect_attention("fa2", problem_of(7, 600, splits, 64, true));
    expect_attention("fa2", problem_of(100, 401, splits, 128, true));
    expect_attention("fa2", problem_of(192, 192, splits, 128, true));
    expect_attention("fa2", problem_of(1, 700, splits, 64, true));
  }
}

TEST(SplitNumbers, RowsWithoutKeys) {
  // Of 90 queries the first 50 come before all keys.
  expect_attention("fa2", problem_of(90, 40, 2, 64, true));
  expect_attention("fa2", problem_of(200, 130, 3, 128, true));
  expect_attention("fa2_kvcache", problem_of(200, 30, 1, 64, true));
}

TEST(SplitNumbers, QueryHeadsThatShareKeys) {
  for (const std::int64_t splits : {1, 3}) {
    expect_attention("fa2", grouped(problem_of(1, 600, splits), 6, 2));
    expect_attention("fa2", grouped(problem_of(1, 600, splits, 128), 8, 1));
    expect_attention("fa2", grouped(problem_of(5, 600, splits, 128, true), 6, 2));
  }
}

TEST(SplitNumbers, HeadDims) {
  for (const std::int64_t d : {8, 32, 40, 72, 96, 104, 160, 256}) {
    expect_attention("fa2", problem_of(3, 400, 3, d));
  }
  Problem bf16 = problem_of(5, 700, 2, 128, true);
  bf16.dtype = DataType::bf16;
  expect_attention("fa2", bf16);
  expect_attention("fa2_torch", problem_of(5, 700, 2));
}

TEST(SplitNumbers, InOnePartOfTheSplitKernel) {
  expect_attention("fa2_kvcache", problem_of(1, 333, 1));
  expect_attention("fa2_kvcache", problem_of(70, 333, 1, 128, true));
  expect_attention("fa2_kvcache", grouped(problem_of(1, 333, 1, 128), 4, 1));
  expect_attention("fa2_kvcache", problem_of(1, 1500, kernels::kAutoSplits));
}

}  // namespace
}  // namespace warpscope::tests
