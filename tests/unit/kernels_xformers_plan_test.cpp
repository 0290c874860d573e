// Launches of memory-efficient attention: tiles, shared memory, walks, and what it refuses.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

KernelPlan plan_of(const Problem& problem) {
  return find_kernel("xformers").plan(problem, kH200);
}

struct Launch {
  std::int64_t head_dim;
  const char* name;
  int warps;
  std::uint32_t shared_bytes;
  std::uint32_t registers = 128;
  std::uint32_t query_blocks = 32;
};

// Names, block sizes and launch__shared_mem_per_block_dynamic of the launches in counters_xformers.csv.
constexpr std::array kLaunches = {
    Launch{32, "fmha_cutlassF_f16_aligned_64x64_rf_sm80", 4, 18944},
    Launch{64, "fmha_cutlassF_f16_aligned_64x64_rf_sm80", 4, 18944},
    Launch{72, "fmha_cutlassF_f16_aligned_64x128_rf_sm80", 8, 52224},
    Launch{128, "fmha_cutlassF_f16_aligned_64x128_rf_sm80", 8, 52224},
    Launch{136, "fmha_cutlassF_f16_aligned_32x128_gmem_sm80", 4, 51200, 122, 64},
    Launch{256, "fmha_cutlassF_f16_aligned_32x128_gmem_sm80", 4, 51200, 122, 64},
};

TEST(XformersPlan, TilesFollowTheHeadDimension) {
  for (const Launch& want : kLaunches) {
    const KernelPlan plan = plan_of({8, 32, 32, 2048, 2048, want.head_dim});
    ASSERT_EQ(plan.launches.size(), 1U);
    const LaunchPlan& launch = plan.launches[0];
    EXPECT_EQ(launch.name, want.name) << want.head_dim;
    EXPECT_EQ(launch.warps, want.warps) << want.head_dim;
    EXPECT_EQ(launch.shared_bytes_per_cta, want.shared_bytes) << want.head_dim;
    EXPECT_EQ(launch.registers_per_thread, want.registers);
    EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{want.query_blocks, 32, 8}));
  }
}

const PlanClass& class_at(const LaunchPlan& launch, std::size_t block) {
  return launch.classes.at(launch.class_of_block[0].at(block));
}

// Trip slots: whole blocks, masks, four slices of the last block, only block, several blocks, rolling slices.
using Trips = std::vector<std::uint32_t>;

TEST(XformersPlan, WholeBlocksNeedNoLastOne) {
  const KernelPlan plan = plan_of({1, 1, 1, 100, 640, 64});
  EXPECT_EQ(plan.launches[0].classes.size(), 1U);
  EXPECT_EQ(class_at(plan.launches[0], 1).trip_counts, (Trips{10, 0, 1, 1, 0, 0, 0, 1, 0}));
}

TEST(XformersPlan, RaggedKeysLeaveTheLastBlockSlices) {
  // 300 = 4 * 64 + 44: two slices of 32. 257 leaves one key.
  EXPECT_EQ(class_at(plan_of({1, 1, 1, 64, 300, 64}).launches[0], 0).trip_counts,
            (Trips{4, 1, 1, 1, 0, 0, 0, 1, 0}));
  const PlanClass last = class_at(plan_of({1, 1, 1, 64, 257, 64}).launches[0], 0);
  EXPECT_EQ(last.trip_counts, (Trips{4, 1, 1, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(last.symbols, (std::vector<std::int64_t>{4}));
}

TEST(XformersPlan, CausalQueriesStopAtTheirDiagonal) {
  // Blocks of 64 queries and 128 keys: the last of a CTA ends at its last query. It is masked, and so is the
  // block before, where that ends at the first query.
  const LaunchPlan launch = plan_of({1, 1, 1, 512, 512, 128, true}).launches[0];
  EXPECT_EQ(class_at(launch, 0).trip_counts, (Trips{0, 1, 1, 1, 0, 0, 1, 0, 0}));
  EXPECT_EQ(class_at(launch, 1).trip_counts, (Trips{0, 1, 1, 1, 1, 1, 1, 0, 0}));
  EXPECT_EQ(class_at(launch, 2).trip_counts, (Trips{1, 2, 1, 1, 0, 0, 0, 1, 0}));
  EXPECT_EQ(class_at(launch, 7).trip_counts, (Trips{3, 1, 1, 1, 1, 1, 0, 1, 0}));
}

TEST(XformersPlan, OutputInMemoryTellsTheFirstAndLastBlockApart) {
  const LaunchPlan launch = plan_of({1, 1, 1, 32, 640, 256}).launches[0];
  // 8 slices of Q and K, of which three copies run ahead.
  EXPECT_EQ(class_at(launch, 0).trip_counts, (Trips{3, 0, 1, 1, 1, 1, 0, 1, 5}));
  EXPECT_EQ(plan_of({1, 1, 1, 32, 640, 256}).tensors.back().name, "O_accum");
  EXPECT_EQ(plan_of({1, 1, 1, 32, 640, 128}).tensors.back().name, "LSE");
}

TEST(XformersPlan, SumsArePaddedForTheBackwardPass) {
  EXPECT_EQ(plan_of({1, 1, 1, 100, 100, 64}).tensors.back().rows, 128);
}

// The library asks for zeros as bytes: four to a thread in PyTorch of 2023, which A100s ran, 16 in 2.11.
TEST(XformersPlan, WorkspaceIsZeroedInPiecesOfTheTime) {
  Problem problem{1, 2, 2, 512, 512, 128};
  problem.pass = Pass::backward;
  constexpr std::uint32_t kBytesOfHead = 512 * 128 * 4;
  const auto zeros_on = [&](const GpuLimits& limits) {
    const KernelPlan plan = find_kernel("xformers").plan(problem, limits);
    EXPECT_EQ(plan.launches.at(0).name, "zeros_for_workspace");
    return plan.launches.at(0).grid;
  };
  EXPECT_EQ(zeros_on(kA100), (std::array<std::uint32_t, 3>{kBytesOfHead / (128 * 4), 1, 2}));
  EXPECT_EQ(zeros_on(kH200), (std::array<std::uint32_t, 3>{kBytesOfHead / (128 * 16), 1, 2}));
}

TEST(XformersPlan, RefusesWhatIsNotThere) {
  const Problem good{1, 4, 4, 64, 64, 64, true};
  const auto refuses = [&](void (*spoil)(Problem&), const std::string& reason) {
    Problem problem = good;
    spoil(problem);
    try {
      plan_of(problem);
      ADD_FAILURE() << "accepted: " << reason;
    } catch (const UnsupportedProblem& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  EXPECT_NO_THROW(plan_of(good));
  refuses([](Problem& p) { p.heads_kv = 2; }, "GQA");
  refuses([](Problem& p) { p.head_dim = 60; }, "multiple of 8");
  refuses([](Problem& p) { p.seqlen_k = 65; }, "top left");
  refuses([](Problem& p) { p.seqlen_q = 0; }, "at least 1");
  refuses([](Problem& p) { p.heads = p.heads_kv = 65536; }, "65535");
  refuses(
      [](Problem& p) {
        p.pass = Pass::backward;
        p.head_dim = 32;
      },
      "backward");
}

}  // namespace
}  // namespace warpscope::tests
