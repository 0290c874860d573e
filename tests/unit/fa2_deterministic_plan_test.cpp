// Launches, walks and refusals of the deterministic backward pass of FlashAttention-2.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "kernels/fa2/key_walk.hpp"
#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/unsupported.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/counted_instructions.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;
using Grid = std::array<std::uint32_t, 3>;
using Trips = std::vector<std::uint32_t>;

Problem deterministic(std::int64_t batch, std::int64_t heads, std::int64_t seqlen_q, std::int64_t seqlen_k,
                      std::int64_t head_dim, bool causal) {
  Problem problem{batch, heads, heads, seqlen_q, seqlen_k, head_dim, causal, DataType::fp16, Pass::backward};
  problem.deterministic = true;
  return problem;
}

std::string refusal(const char* kernel, const Problem& problem, const GpuLimits& gpu = kH200) {
  try {
    find_kernel(kernel).build(problem, gpu);
  } catch (const UnsupportedProblem& error) {
    return error.what();
  }
  return {};
}

TEST(Fa2DeterministicPlan, HasAsManyCopiesAsCtasOfAHeadFillTheSms) {
  EXPECT_EQ(fa2::grad_q_splits(deterministic(1, 1, 128, 128, 64, false), 132), 132);
  EXPECT_EQ(fa2::grad_q_splits(deterministic(2, 16, 128, 128, 64, false), 132), 5);
  EXPECT_EQ(fa2::grad_q_splits(deterministic(2, 16, 128, 128, 64, false), 108), 4);
  EXPECT_EQ(fa2::grad_q_splits(deterministic(4, 33, 128, 128, 64, false), 132), 1);
  EXPECT_EQ(fa2::grad_q_splits(deterministic(16, 32, 128, 128, 64, false), 132), 1);
}

TEST(Fa2DeterministicPlan, LaunchesAsItsLaunchCodeDoes) {
  for (const char* kernel : {"fa2", "fa2_torch"}) {
    const KernelPlan plan = find_kernel(kernel).plan(deterministic(2, 16, 1000, 700, 64, false), kH200);
    ASSERT_EQ(plan.launches.size(), 4U);
    EXPECT_EQ(plan.launches[0].name, "zeros_for_dq");
    EXPECT_EQ(plan.launches[1].grid, (Grid{8, 2, 16}));
    EXPECT_EQ(plan.launches[2].grid, (Grid{5, 2, 16}));  // 6 key blocks, 5 copies
    EXPECT_EQ(plan.launches[3].grid, (Grid{8, 2, 16}));
    EXPECT_EQ(plan.launches[3].classes.at(0).trip_counts, Trips{5});
    EXPECT_EQ(plan.tensors.at(fa2::kGradQSum).segments, 5 * 32);
    EXPECT_EQ(plan.tensors.at(fa2::kGradQSum).rows, 1024);
  }
}

/// Trip counts of CTA x of the main launch.
const Trips& trips(const KernelPlan& plan, std::size_t x) {
  const LaunchPlan& launch = plan.launches.at(2);
  return launch.classes.at(launch.class_of_block[0].at(x)).trip_counts;
}

// Blocks that all queries see, their steps, blocks of ever fewer steps, the steps of the first of these.
TEST(Fa2DeterministicPlan, WalksEveryCopysKeyBlocks) {
  // 8 blocks of 128 keys, 16 steps of 64 queries, 3 CTAs: blocks 0 3 6, 1 4 7 and 2 5.
  const KernelPlan causal = find_kernel("fa2").plan(deterministic(1, 44, 1024, 1024, 128, true), kH200);
  ASSERT_EQ(causal.launches[2].grid, (Grid{3, 1, 44}));
  EXPECT_EQ(trips(causal, 0), (Trips{0, 16, 3, 16}));
  EXPECT_EQ(trips(causal, 1), (Trips{0, 16, 3, 14}));
  EXPECT_EQ(trips(causal, 2), (Trips{0, 16, 2, 12}));
  const KernelPlan full = find_kernel("fa2").plan(deterministic(1, 44, 1024, 1024, 128, false), kH200);
  EXPECT_EQ(trips(full, 0), (Trips{0, 16, 3, 16}));
  EXPECT_EQ(trips(full, 2), (Trips{0, 16, 2, 16}));
  // The first query stands at key 768: 4 steps in blocks 0 to 6, 2 in block 7.
  const KernelPlan long_keys = find_kernel("fa2").plan(deterministic(1, 44, 256, 1024, 128, true), kH200);
  EXPECT_EQ(trips(long_keys, 0), (Trips{2, 4, 1, 4}));
  EXPECT_EQ(trips(long_keys, 1), (Trips{2, 4, 1, 2}));
  EXPECT_EQ(long_keys.launches[2].classes.at(long_keys.launches[2].class_of_block[0][1]).symbols,
            std::vector<std::int64_t>{6});
  // CTAs beyond the key blocks have none.
  const KernelPlan idle = find_kernel("fa2").plan(deterministic(1, 44, 1024, 256, 128, false), kH200);
  EXPECT_EQ(trips(idle, 2), (Trips{0, 16, 0, 0}));
}

TEST(Fa2DeterministicPlan, AddsAsMuchAsTheOtherAndReadsEveryCopy) {
  for (const bool causal : {false, true}) {
    const Problem problem = deterministic(2, 16, 1024, 1024, 128, causal);
    Problem other = problem;
    other.deterministic = false;
    const trace::Trace one = find_kernel("fa2").build(other, kH200);
    const trace::Trace copies = find_kernel("fa2").build(problem, kH200);
    const Counted main{trace::executed_instructions(one.launches.at(1))};
    const Counted walk{trace::executed_instructions(copies.launches.at(2))};
    for (const char* opcode : {"HMMA", "LDSM", "LDGSTS", "RED", "STS", "MUFU.EX2"}) {
      EXPECT_EQ(walk.of(opcode), main.of(opcode)) << opcode;
    }
    // A barrier for each key block, of 8 warps.
    EXPECT_EQ(walk.of("BAR") - main.of("BAR"), 8 * 8 * 32);
    const auto bytes = [](const trace::Trace& of, std::size_t launch) {
      return trace::requested_bytes(of, of.launches.at(launch)).at(fa2::kGradQSum);
    };
    const std::uint64_t copy = std::uint64_t{4} * 32 * 1024 * 128;
    EXPECT_EQ(bytes(one, 0).written, copy);
    EXPECT_EQ(bytes(one, 2).read, copy);
    EXPECT_EQ(bytes(copies, 0).written, 5 * copy);
    EXPECT_EQ(bytes(copies, 1).written, 0U);
    EXPECT_EQ(bytes(copies, 2).written, bytes(one, 1).written);
    EXPECT_EQ(bytes(copies, 3).read, 5 * copy);
  }
}

TEST(Fa2DeterministicPlan, IsOfTheBackwardPassInBothPasses) {
  Problem both = deterministic(1, 2, 256, 256, 64, true);
  both.pass = Pass::both;
  const trace::Trace stream = find_kernel("fa2").build(both, kH200);
  ASSERT_EQ(stream.launches.size(), 5U);
  EXPECT_NE(stream.launches[0].name.find("flash_fwd"), std::string::npos);
  EXPECT_EQ(stream.launches[1].name, "zeros_for_dq");
  EXPECT_NE(stream.launches[3].name.find("deterministic"), std::string::npos);
  EXPECT_NO_THROW(trace::validate(stream));
}

TEST(Fa2DeterministicPlan, SaysWhyItRefuses) {
  Problem problem = deterministic(1, 2, 256, 256, 64, true);
  for (const char* kernel : {"fa1", "fa2-warp_grid", "triton", "standard"}) {
    EXPECT_EQ(refusal(kernel, problem),
              "kernel " + std::string(kernel) +
                  " does not have a deterministic mode; kernels that do: fa2, fa2_torch");
  }
  problem.pass = Pass::forward;
  EXPECT_EQ(refusal("fa2", problem),
            "fa2 has a deterministic mode in its backward pass only, pass bwd or fwd+bwd; its forward pass "
            "always is");
  problem.pass = Pass::backward;
  problem.dropout = 0.1;
  EXPECT_EQ(refusal("fa2", problem), "fa2 has dropout in its forward pass only, as it is modelled");
  // 82 SMs and 2 heads: 41 CTAs with 32 keys each, and queries in blocks of 64.
  EXPECT_EQ(refusal("fa2", deterministic(1, 2, 256, 256, 256, true), kRtx3090),
            "fa2 with a causal mask is modelled as deterministic where CTAs go 64 keys at a time or a "
            "multiple; here "
            "41 CTAs of each head have 32 keys each");
  EXPECT_EQ(refusal("fa2", deterministic(1, 41, 256, 256, 256, true), kRtx3090), "");
  GpuLimits small = kH200;
  small.memory_bytes = 100'000'000;
  EXPECT_NE(refusal("fa2", deterministic(1, 1, 4096, 4096, 64, false), small), "");  // 132 copies
}

}  // namespace
}  // namespace warpscope::tests
