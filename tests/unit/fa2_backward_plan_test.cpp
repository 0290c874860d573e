// Launches, tiles and walks of the FlashAttention-2 backward pass.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "kernels/fa2/backward_tile_table.hpp"
#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

Problem backward(std::int64_t seqlen_q, std::int64_t seqlen_k, std::int64_t head_dim, bool causal) {
  return {1, 2, 2, seqlen_q, seqlen_k, head_dim, causal, DataType::fp16, Pass::backward};
}

struct Tile {
  std::int64_t head_dim;
  GpuLimits gpu;
  int rows, keys;
  std::uint32_t shared_bytes;
};

// facts of the launch code: shared memory is that of the counters' launches, and of the source's comments.
const std::array kTiles = {
    Tile{32, kH200, 128, 128, 98304},   Tile{64, kA100, 128, 128, 147456}, Tile{64, kRtx3090, 64, 128, 73728},
    Tile{80, kH200, 64, 128, 94208},    Tile{96, kA100, 64, 128, 94208},   Tile{128, kH200, 64, 128, 147456},
    Tile{128, kRtx3090, 64, 64, 81920}, Tile{192, kA100, 64, 64, 139264},  Tile{192, kRtx3090, 64, 64, 98304},
    Tile{256, kH200, 64, 64, 180224},   Tile{256, kA100, 64, 64, 147456},  Tile{256, kRtx3090, 64, 32, 98304},
};

TEST(Fa2BackwardPlan, TilesFollowHeadDimensionAndSharedMemory) {
  for (const Tile& want : kTiles) {
    const fa2::BackwardTile tile = fa2::backward_tile(backward(128, 128, want.head_dim, false), want.gpu);
    EXPECT_EQ(tile.rows, want.rows) << want.head_dim;
    EXPECT_EQ(tile.keys, want.keys) << want.head_dim;
    EXPECT_EQ(tile.shared_bytes(), want.shared_bytes) << want.head_dim;
  }
}

TEST(Fa2BackwardPlan, RefusesWhatDoesNotFit) {
  const GpuLimits turing{7, 5, 40, 64 * 1024, 64 * 1024, 0};
  try {
    find_kernel("fa2").plan(backward(128, 128, 64, false), turing);
    ADD_FAILURE();
  } catch (const UnsupportedProblem& error) {
    EXPECT_NE(std::string(error.what()).find("needs 73728"), std::string::npos) << error.what();
  }
  EXPECT_THROW(find_kernel("fa2").plan(backward(128, 128, 264, false), kH200), UnsupportedProblem);
  EXPECT_THROW(find_kernel("fa1+warp_grid").build(backward(128, 128, 64, false), kH200), UnsupportedProblem);
}

TEST(Fa2BackwardPlan, LaunchesAsItsLaunchCodeDoes) {
  const KernelPlan plan = find_kernel("fa2").plan(backward(1000, 700, 64, false), kH200);
  ASSERT_EQ(plan.launches.size(), 3U);
  EXPECT_EQ(plan.launches[0].grid, (std::array<std::uint32_t, 3>{8, 1, 2}));
  EXPECT_EQ(plan.launches[1].grid, (std::array<std::uint32_t, 3>{6, 1, 2}));
  EXPECT_EQ(plan.launches[2].grid, plan.launches[0].grid);
  EXPECT_EQ(plan.launches[1].registers_per_thread, 255U);
  Problem grouped = backward(1000, 700, 64, false);
  grouped.heads_kv = 1;
  const KernelPlan sums = find_kernel("fa2").plan(grouped, kH200);
  ASSERT_EQ(sums.launches.size(), 5U);
  EXPECT_EQ(sums.launches[1].grid[2], 2U);  // each query head has gradients of its own
  EXPECT_EQ(sums.launches[3].grid[2], 1U);
}

/// Steps of the CTA with key block `n`.
std::uint32_t steps(const KernelPlan& plan, std::size_t n) {
  const LaunchPlan& launch = plan.launches.at(1);
  return launch.classes.at(launch.class_of_block[0].at(n)).trip_counts.at(0);
}

TEST(Fa2BackwardPlan, CausalKeysAreSeenByLaterQueriesOnly) {
  const KernelPlan square = find_kernel("fa2").plan(backward(1024, 1024, 128, true), kH200);
  for (std::size_t n = 0; n < 8; ++n) {
    EXPECT_EQ(steps(square, n), 16 - 2 * n);  // 64 queries a step, 128 keys a CTA
  }
  const KernelPlan long_keys = find_kernel("fa2").plan(backward(256, 512, 128, true), kH200);
  EXPECT_EQ(steps(long_keys, 0), 4U);  // before the first query
  EXPECT_EQ(steps(long_keys, 2), 4U);
  EXPECT_EQ(steps(long_keys, 3), 2U);
  const KernelPlan full = find_kernel("fa2").plan(backward(1024, 1024, 128, false), kH200);
  EXPECT_EQ(steps(full, 7), 16U);
}

TEST(Fa2BackwardPlan, BothPassesAreOneStream) {
  Problem both = backward(256, 256, 64, true);
  both.pass = Pass::both;
  const trace::Trace stream = find_kernel("fa2").build(both, kH200);
  ASSERT_EQ(stream.launches.size(), 4U);
  EXPECT_NE(stream.launches[0].name.find("flash_fwd"), std::string::npos);
  EXPECT_NE(stream.launches[3].name.find("convert_dq"), std::string::npos);
  EXPECT_NO_THROW(trace::validate(stream));
  EXPECT_EQ(find_kernel("fa2").legal_passes(), "fwd, bwd, fwd+bwd");
  EXPECT_EQ(find_kernel("row_softmax").legal_passes(), "fwd");
}

}  // namespace
}  // namespace warpscope::tests
