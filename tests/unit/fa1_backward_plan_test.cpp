// Launches, modes and shared memory of the FlashAttention-1 backward pass.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "kernels/fa1/backward_config.hpp"
#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

Problem backward(std::int64_t batch, std::int64_t heads, std::int64_t seqlen, std::int64_t head_dim,
                 bool causal) {
  return {batch, heads, heads, seqlen, seqlen, head_dim, causal, DataType::fp16, Pass::backward};
}

struct Tile {
  std::int64_t head_dim, seqlen;
  GpuLimits gpu;
  int keys;
  bool v_in_registers;
  int shared_bytes;
};

// 64 and 128 on an H200: launch__shared_mem_per_block_dynamic of the counters' launches.
const std::array kTiles = {
    Tile{32, 512, kH200, 256, true, 53248},    Tile{64, 512, kH200, 256, false, 122880},
    Tile{64, 128, kA100, 128, true, 65536},    Tile{64, 512, kRtx3090, 256, true, 90112},
    Tile{128, 512, kH200, 128, false, 155648},
};

TEST(Fa1BackwardPlan, TilesFollowHeadDimensionAndGpu) {
  for (const Tile& want : kTiles) {
    const fa1::BackwardConfig config =
        fa1::configure_backward(backward(1, 1, want.seqlen, want.head_dim, false), want.gpu);
    EXPECT_EQ(config.blocks.block_keys, want.keys) << want.head_dim;
    EXPECT_EQ(config.v_in_registers, want.v_in_registers) << want.head_dim;
    EXPECT_EQ(config.shared_bytes, want.shared_bytes) << want.head_dim;
  }
}

struct Mode {
  std::int64_t seqlen, head_dim;
  bool causal;
  std::uint32_t ctas_per_head;
};

// num_splits of experiments/reference/measured-h200/time_fa1.csv: 16384 tokens, hidden size 2048.
constexpr std::array kModes = {
    Mode{512, 64, false, 1},    Mode{1024, 64, false, 1},   Mode{2048, 64, false, 1},
    Mode{4096, 64, false, 1},   Mode{8192, 64, false, 32},  Mode{16384, 64, false, 64},
    Mode{512, 64, true, 1},     Mode{1024, 64, true, 1},    Mode{2048, 64, true, 1},
    Mode{4096, 64, true, 16},   Mode{8192, 64, true, 32},   Mode{16384, 64, true, 64},
    Mode{512, 128, false, 1},   Mode{1024, 128, false, 1},  Mode{2048, 128, false, 1},
    Mode{4096, 128, false, 32}, Mode{8192, 128, false, 64}, Mode{16384, 128, false, 128},
    Mode{512, 128, true, 1},    Mode{1024, 128, true, 1},   Mode{2048, 128, true, 16},
    Mode{4096, 128, true, 32},  Mode{8192, 128, true, 64},  Mode{16384, 128, true, 128},
};

TEST(Fa1BackwardPlan, ModeIsThatOfTheRealHeuristic) {
  for (const Mode& want : kModes) {
    const Problem problem =
        backward(16384 / want.seqlen, 2048 / want.head_dim, want.seqlen, want.head_dim, want.causal);
    const KernelPlan plan = find_kernel("fa1").plan(problem, kH200);
    const std::size_t main = want.ctas_per_head == 1 ? 0 : 2;
    ASSERT_EQ(plan.launches.size(), want.ctas_per_head == 1 ? 1U : 4U) << want.seqlen;
    EXPECT_EQ(plan.launches[main].grid[2], want.ctas_per_head) << want.seqlen << " " << want.head_dim;
  }
}

TEST(Fa1BackwardPlan, SumsOfDqExistOnlyWhereSomebodyAddsToThem) {
  const auto has_sums = [](const KernelPlan& plan) { return plan.tensors.back().name == "dQ_sum"; };
  EXPECT_FALSE(has_sums(find_kernel("fa1").plan(backward(33, 4, 256, 64, false), kH200)));
  EXPECT_TRUE(has_sums(find_kernel("fa1").plan(backward(33, 4, 257, 64, false), kH200)));
}

TEST(Fa1BackwardPlan, CausalKeysAreSeenByLaterQueriesOnly) {
  const KernelPlan plan = find_kernel("fa1").plan(backward(1, 1, 1000, 128, true), kH200);
  const LaunchPlan& launch = plan.launches.at(2);
  ASSERT_EQ(launch.grid[2], 8U);
  for (std::size_t n = 0; n < 8; ++n) {  // 16 queries a step, 128 keys a CTA
    EXPECT_EQ(launch.classes.at(launch.class_of_block[2].at(n)).trip_counts.at(0), 63 - 8 * n);
  }
}

void expect_refused(const Problem& problem, const GpuLimits& gpu, const std::string& reason) {
  try {
    find_kernel("fa1").plan(problem, gpu);
    ADD_FAILURE() << reason;
  } catch (const UnsupportedProblem& error) {
    EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
  }
}

TEST(Fa1BackwardPlan, RefusesWhatTheLibraryRefuses) {
  expect_refused(backward(1, 1, 128, 136, false), kH200, "at most 128, got 136");
  expect_refused(backward(1, 1, 128, 36, false), kH200, "a multiple of 8");
  expect_refused(backward(1, 1, 128, 72, false), kRtx3090, "above 64 requires A100 or H100");
  Problem grouped = backward(1, 4, 128, 64, false);
  grouped.heads_kv = 2;
  expect_refused(grouped, kH200, "no GQA");
  Problem longer = backward(1, 1, 128, 64, true);
  longer.seqlen_k = 256;
  expect_refused(longer, kH200, "causal needs seqlen_q = seqlen_k");
  const GpuLimits small{8, 6, 40, 64 * 1024, 64 * 1024, 0};
  expect_refused(backward(1, 1, 512, 64, false), small, "needs 90112 bytes of shared memory");
}

}  // namespace
}  // namespace warpscope::tests
