// Numbers of FlashAttention-2 with a window, softcap and ALiBi, against attention in double precision.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>

#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/reference_attention.hpp"

namespace warpscope::tests {
namespace {

using kernels::KeyWindow;
using kernels::Problem;

constexpr std::pair<std::int64_t, std::int64_t> kLengths[] = {
    {200, 200}, {130, 401}, {256, 512}, {401, 130}, {1, 300}};

void expect_attention(const Problem& problem) {
  SCOPED_TRACE(std::to_string(problem.seqlen_q) + "x" + std::to_string(problem.seqlen_k) + " d" +
               std::to_string(problem.head_dim) + (problem.causal ? " causal" : "") + " window " +
               std::to_string(problem.window.left) + "," + std::to_string(problem.window.right) +
               " softcap " + std::to_string(problem.softcap) + (problem.alibi ? " ALiBi" : ""));
  const kernels::TensorValues inputs = random_inputs(problem, 1);
  const auto got = run_numeric(kernels::find_kernel("fa2").plan(problem, kH100), inputs).tensors;
  EXPECT_LE(largest_error(got.at("O"), reference_attention(problem, inputs).output), 0x1p-10);
}

TEST(FeatureNumbers, Windows) {
  constexpr KeyWindow kWindows[] = {{16, 0}, {100, 50}, {-1, 30}, {40, -1}, {0, 0}, {1000, 1000}};
  for (const auto& [queries, keys] : kLengths) {
    for (const KeyWindow& window : kWindows) {
      Problem problem{1, 2, 2, queries, keys, 64, false};
      problem.window = window;
      expect_attention(problem);
      problem.head_dim = 128;
      expect_attention(problem);
    }
    Problem causal{1, 2, 1, queries, keys, 128, true};
    causal.window = {33, -1};
    expect_attention(causal);
  }
}

TEST(FeatureNumbers, SoftcapAndAlibi) {
  for (const auto& [queries, keys] : kLengths) {
    for (const bool causal : {false, true}) {
      Problem problem{1, 4, 2, queries, keys, 64, causal};
      problem.softcap = 2;
      expect_attention(problem);
      problem.alibi = true;
      expect_attention(problem);
      problem.softcap = 0;
      expect_attention(problem);
      problem.window = {60, 20};
      problem.head_dim = 128;
      expect_attention(problem);
    }
  }
}

}  // namespace
}  // namespace warpscope::tests
