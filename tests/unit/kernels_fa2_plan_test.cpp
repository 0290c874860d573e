// FA2 forward: tiles, grids, classes of CTAs, refused problems.
#include <gtest/gtest.h>

#include "kernels/fa2/fa2.hpp"
#include "kernels/fa2/tile_table.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::DataType;
using kernels::GpuLimits;
using kernels::LaunchPlan;
using kernels::Pass;
using kernels::PlanClass;
using kernels::Problem;
using kernels::UnsupportedProblem;

Problem problem_of(std::int64_t seqlen_q, std::int64_t seqlen_k, std::int64_t head_dim, bool causal) {
  return {1, 1, 1, seqlen_q, seqlen_k, head_dim, causal};
}

struct TileCase {
  const GpuLimits& gpu;
  std::int64_t head_dim;
  bool causal;
  int rows, keys, warps;
  std::uint32_t shared_bytes;
};

TEST(Fa2Tiles, FollowTheLaunchTemplate) {
  const TileCase cases[] = {
      {kA100, 32, false, 128, 128, 4, 24576},  {kA100, 40, false, 128, 128, 4, 49152},
      {kA100, 64, true, 128, 128, 4, 49152},   {kA100, 96, true, 128, 64, 4, 49152},
      {kRtx3090, 96, true, 64, 64, 4, 36864},  {kRtx3090, 96, false, 128, 64, 4, 49152},
      {kH100, 128, true, 128, 64, 4, 65536},   {kRtx3090, 128, false, 128, 32, 4, 49152},
      {kRtx3090, 128, true, 64, 64, 4, 49152}, {kA100, 160, false, 128, 64, 8, 98304},
      {kA100, 192, true, 128, 64, 8, 98304},   {kA100, 256, false, 128, 64, 8, 131072},
      {kH100, 256, false, 64, 64, 4, 98304},   {kRtx3090, 256, false, 64, 64, 4, 98304},
  };
  for (const TileCase& c : cases) {
    const auto tile = kernels::fa2::forward_tile(problem_of(512, 512, c.head_dim, c.causal), c.gpu);
    EXPECT_EQ(tile.rows, c.rows) << c.head_dim;
    EXPECT_EQ(tile.keys, c.keys) << c.head_dim;
    EXPECT_EQ(tile.warps, c.warps) << c.head_dim;
    EXPECT_EQ(tile.shared_bytes(), c.shared_bytes) << c.head_dim;
  }
}

TEST(Fa2Plan, GridIsQueryBlocksByBatchByHeads) {
  const LaunchPlan launch = kernels::plan_fa2({3, 8, 2, 1000, 700, 64, false}, kA100).launches.at(0);
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{8, 3, 8}));
  EXPECT_EQ(launch.warps, 4);
  EXPECT_EQ(launch.registers_per_thread, 255U);
  EXPECT_EQ(launch.shared_bytes_per_cta, 49152U);
}

TEST(Fa2Plan, WithoutMaskAllCtasAreAlike) {
  const LaunchPlan launch = kernels::plan_fa2(problem_of(1024, 1024, 64, false), kA100).launches.at(0);
  ASSERT_EQ(launch.classes.size(), 1U);
  EXPECT_EQ(launch.classes[0].trip_counts, (std::vector<std::uint32_t>{7, 1}));
  EXPECT_EQ(launch.classes[0].symbols, std::vector<std::int64_t>{7});
}

/// Key blocks of query block m: the first, the other masking steps, and the main loop.
std::int64_t visited_blocks(const LaunchPlan& launch, std::size_t m, std::size_t masking_steps) {
  const PlanClass& cta_class = launch.classes.at(launch.class_of_block[0].at(m));
  if (cta_class.program == 1) {
    return 0;
  }
  std::int64_t blocks = 1 + cta_class.trip_counts.at(0);
  for (std::size_t step = 1; step < masking_steps; ++step) {
    blocks += cta_class.trip_counts.at(step);
  }
  EXPECT_EQ(cta_class.symbols.at(0), blocks - 1);
  return blocks;
}

TEST(Fa2Plan, CausalCtaVisitsTheBlocksUpToItsDiagonal) {
  const LaunchPlan d64 = kernels::plan_fa2(problem_of(1024, 1024, 64, true), kA100).launches.at(0);
  const LaunchPlan d128 = kernels::plan_fa2(problem_of(1024, 1024, 128, true), kA100).launches.at(0);
  for (std::size_t m = 0; m < 8; ++m) {
    EXPECT_EQ(visited_blocks(d64, m, 1), static_cast<std::int64_t>(m) + 1);
    EXPECT_EQ(visited_blocks(d128, m, 2), 2 * (static_cast<std::int64_t>(m) + 1));
  }
}

TEST(Fa2Plan, UnevenCausalHasOneMaskingStepMore) {
  // 1000 queries and keys in tiles of 128 x 64: block m ends at key 128 (m + 1), the last one at key 1000.
  const LaunchPlan launch = kernels::plan_fa2(problem_of(1000, 1000, 128, true), kA100).launches.at(0);
  for (std::size_t m = 0; m < 8; ++m) {
    EXPECT_EQ(visited_blocks(launch, m, 3),
              std::min<std::int64_t>(16, 2 * (static_cast<std::int64_t>(m) + 1)));
  }
}

TEST(Fa2Plan, CausalMaskIsAlignedToTheBottomRight) {
  // More queries than keys: the first 512 queries see nothing.
  const LaunchPlan fewer_keys = kernels::plan_fa2(problem_of(1024, 512, 64, true), kA100).launches.at(0);
  for (std::size_t m = 0; m < 8; ++m) {
    EXPECT_EQ(visited_blocks(fewer_keys, m, 1), std::max<std::int64_t>(0, static_cast<std::int64_t>(m) - 3));
  }
  // Fewer queries than keys: the first query block already sees the extra keys.
  const LaunchPlan more_keys = kernels::plan_fa2(problem_of(256, 1024, 64, true), kA100).launches.at(0);
  EXPECT_EQ(visited_blocks(more_keys, 0, 1), 7);
  EXPECT_EQ(visited_blocks(more_keys, 1, 1), 8);
}

std::string refusal(const Problem& problem, const GpuLimits& gpu = kA100) {
  try {
    kernels::find_kernel("fa2").build(problem, gpu);
  } catch (const UnsupportedProblem& error) {
    return error.what();
  }
  return "";
}

TEST(Fa2Plan, RefusesWhatTheRealKernelRefuses) {
  EXPECT_NE(refusal({1, 1, 1, 128, 128, 264}).find("264"), std::string::npos);
  EXPECT_NE(refusal({1, 1, 1, 128, 128, 60}).find("60"), std::string::npos);
  EXPECT_NE(refusal({1, 6, 4, 128, 128, 64}).find("heads_kv (4)"), std::string::npos);
  EXPECT_NE(refusal({0, 1, 1, 128, 128, 64}).find("at least 1"), std::string::npos);
  EXPECT_NE(refusal({1, 1, 1, 0, 128, 64}).find("at least 1"), std::string::npos);
  EXPECT_NE(refusal({70000, 1, 1, 128, 128, 64}).find("65535"), std::string::npos);
  const GpuLimits turing{7, 5, 40, 64 * 1024, 64 * 1024, 0};
  EXPECT_NE(refusal({1, 1, 1, 128, 128, 64}, turing).find("7.5"), std::string::npos);
  EXPECT_EQ(refusal({1, 6, 3, 1, 1, 8}), "");
}

}  // namespace
}  // namespace warpscope::tests
