// FlashAttention-2 with dropout, against attention in double precision with the same mask.
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>

#include "kernels/kernel.hpp"
#include "kernels/numeric/philox.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/reference_attention.hpp"

namespace warpscope::tests {
namespace {

using kernels::Problem;

// Computed with csrc/flash_attn/src/philox.cuh of FlashAttention-2, compiled for the host.
TEST(DropoutNumbers, PhiloxOfSevenRounds) {
  EXPECT_EQ(kernels::philox_7(0, 0, 0),
            (std::array<std::uint32_t, 4>{1601156873U, 227098468U, 1326587777U, 1332939336U}));
  EXPECT_EQ(kernels::philox_7(0x0123456789abcdefULL, 0x0000000300000005ULL, 77),
            (std::array<std::uint32_t, 4>{3248336085U, 2455259973U, 852756560U, 2612377728U}));
}

TEST(DropoutNumbers, KeepsTheShareThatWasAskedFor) {
  constexpr double kDropped = 0.25;
  int kept = 0;
  constexpr int kSide = 512;
  for (std::int64_t row = 0; row < kSide; ++row) {
    for (std::int64_t col = 0; col < kSide; ++col) {
      kept += kernels::keeps_weight(3, row, col, kDropped) ? 1 : 0;
    }
  }
  // Bytes up to floor(0.75 * 255) = 191 of 256.
  EXPECT_NEAR(kept / double{kSide * kSide}, 192.0 / 256, 0.004);
}

void expect_attention(const Problem& problem, const char* kernel = "fa2") {
  SCOPED_TRACE(std::to_string(problem.head_dim) + (problem.causal ? " causal" : ""));
  const kernels::TensorValues inputs = random_inputs(problem, 1);
  const auto got = run_numeric(kernels::find_kernel(kernel).plan(problem, kH100), inputs).tensors;
  const ReferenceOutput want = reference_attention(problem, inputs);
  EXPECT_LE(largest_error(got.at("O"), want.output), 0x1p-10 / (1 - problem.dropout));
  EXPECT_LE(largest_error(got.at("LSE"), want.lse), 1e-4);
}

TEST(DropoutNumbers, TheMaskOfTheReference) {
  for (const bool causal : {false, true}) {
    for (const std::int64_t d : {32, 64, 96, 128, 192, 256}) {
      Problem problem{2, 2, 1, 200, 260, d, causal};
      problem.dropout = 0.1;
      expect_attention(problem);
    }
  }
  Problem problem{1, 2, 2, 256, 256, 64, false};
  problem.dropout = 0.6;
  problem.alibi = true;
  expect_attention(problem, "fa2_torch");
  problem.window = {30, 10};
  expect_attention(problem);
  Problem lengths{2, 2, 2, 150, 150, 64, true};
  lengths.seqlens = {150, 70};
  lengths.dropout = 0.2;
  expect_attention(lengths);
}

TEST(DropoutNumbers, RefusesWhatIsNotModelled) {
  const auto refusal = [](const char* kernel, const Problem& problem) -> std::string {
    try {
      kernels::find_kernel(kernel).build(problem, kH200);
    } catch (const kernels::UnsupportedProblem& error) {
      return error.what();
    }
    return {};
  };
  Problem problem{1, 1, 1, 256, 256, 64, false};
  problem.dropout = 0.1;
  EXPECT_EQ(refusal("fa1", problem), "kernel fa1 does not have dropout; kernels that do: fa2, fa2_torch");
  Problem backward = problem;
  backward.pass = kernels::Pass::backward;
  EXPECT_EQ(refusal("fa2", backward), "fa2 has dropout in its forward pass only, as it is modelled");
  Problem capped = problem;
  capped.softcap = 30;
  EXPECT_EQ(refusal("fa2", capped), "fa2 does not have softcap and dropout together");
  problem.num_splits = 4;
  EXPECT_EQ(refusal("fa2", problem), "fa2 with dropout keeps the keys in one part, not num_splits 4");
}

}  // namespace
}  // namespace warpscope::tests
