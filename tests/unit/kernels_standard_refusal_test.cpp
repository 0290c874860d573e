// What standard attention refuses, and in which words.
#include <gtest/gtest.h>

#include <string>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/standard/standard.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::GpuLimits;
using kernels::Problem;
using kernels::UnsupportedProblem;

Problem square(std::int64_t batch, std::int64_t heads, std::int64_t seqlen, std::int64_t head_dim,
               bool causal) {
  return {batch, heads, heads, seqlen, seqlen, head_dim, causal};
}

template <typename Build>
std::string refusal(Build build, const Problem& problem, const GpuLimits& limits) {
  try {
    build(problem, limits);
  } catch (const UnsupportedProblem& error) {
    return error.what();
  }
  return "accepted";
}

TEST(StandardRefuses, WhatTheRealFunctionsCannotDo) {
  const auto build = &kernels::plan_standard;
  Problem grouped = square(1, 8, 128, 64, false);
  grouped.heads_kv = 2;
  EXPECT_EQ(refusal(build, grouped, kA100),
            "standard has no grouped heads: heads_kv is 2, it must equal heads (8)");
  grouped.pass = kernels::Pass::backward;
  EXPECT_EQ(refusal(build, grouped, kA100),
            "standard has no grouped heads: heads_kv is 2, it must equal heads (8)");
  EXPECT_EQ(refusal(build, square(1, 1, 128, 60, false), kA100),
            "standard takes head dimensions that are multiples of 8 up to 256, not 60");
  EXPECT_EQ(refusal(&kernels::plan_standard_eager, Problem{1, 1, 1, 9, 8, 64, true}, kA100),
            "standard_eager has no result for rows without keys: causal with seqlen_q 9 above seqlen_k 8");
}

TEST(StandardRefuses, SharedMemoryTooSmallForTheTile) {
  GpuLimits limits = kA100;
  limits.shared_bytes_per_cta = 64 * 1024;
  EXPECT_EQ(refusal(&kernels::plan_standard, square(1, 1, 1024, 64, false), limits),
            "the GEMM tile needs 81920 bytes of shared memory per CTA, the GPU has 65536");
}

TEST(StandardRefuses, TensorsBeyondTheMemory) {
  // Q, K, V and O of 2 * 1024 * 64 bytes, scores and probabilities of 2 * 1024 * 1024 at once.
  const std::int64_t needed = 4 * 2 * 1024 * 64 + 2 * 2 * 1024 * 1024;
  GpuLimits limits = kA100;
  limits.memory_bytes = needed;
  EXPECT_EQ(refusal(&kernels::plan_standard, square(1, 1, 1024, 64, false), limits), "accepted");
  limits.memory_bytes = needed - 1;
  EXPECT_EQ(refusal(&kernels::plan_standard, square(1, 1, 1024, 64, false), limits),
            "out of memory: 4718592 bytes of tensors live at once, the GPU has 4718591");
}

TEST(StandardRefuses, GradientsBeyondTheMemory) {
  // Q, K, V, O, dO and dV, and four score matrices at once: probabilities, dP, their product and dS.
  const std::int64_t needed = 6 * 2 * 1024 * 64 + 4 * 2 * 1024 * 1024;
  Problem problem = square(1, 1, 1024, 64, false);
  problem.pass = kernels::Pass::backward;
  GpuLimits limits = kA100;
  for (const auto& build : {&kernels::plan_standard, &kernels::plan_standard_eager}) {
    limits.memory_bytes = needed;
    EXPECT_EQ(refusal(build, problem, limits), "accepted");
    limits.memory_bytes = needed - 1;
    EXPECT_EQ(refusal(build, problem, limits),
              "out of memory: 9175040 bytes of tensors live at once, the GPU has 9175039");
  }
}

}  // namespace
}  // namespace warpscope::tests
