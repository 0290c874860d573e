// FA2 split-KV: which kernel runs, tiles, grids and what CTAs visit.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/fa2/fa2.hpp"
#include "kernels/fa2/key_splits.hpp"
#include "kernels/fa2/split_tiles.hpp"
#include "kernels/kernel.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::KernelPlan;
using kernels::Problem;
using Grid = std::array<std::uint32_t, 3>;

Problem decode(std::int64_t batch, std::int64_t heads, std::int64_t heads_kv, std::int64_t keys,
               std::int64_t head_dim, std::int64_t splits) {
  Problem problem{batch, heads, heads_kv, 1, keys, head_dim, false};
  problem.num_splits = splits;
  return problem;
}

// The splits and grids of launches on an H200 (experiments/reference/measured-h200/counters_split.csv).
TEST(SplitPlan, LeftToTheLibraryIsAsMeasured) {
  const auto grids = [](const Problem& problem) {
    std::vector<Grid> result;
    for (const kernels::LaunchPlan& launch : kernels::plan_fa2_kvcache(problem, kH200).launches) {
      result.push_back(launch.grid);
    }
    return result;
  };
  EXPECT_EQ(grids(decode(1, 32, 32, 4096, 128, 0)), (std::vector<Grid>{{1, 7, 32}, {8, 1, 1}}));
  EXPECT_EQ(grids(decode(1, 32, 8, 16384, 128, 0)), (std::vector<Grid>{{1, 32, 8}, {8, 1, 1}}));
  EXPECT_EQ(grids(decode(1, 64, 8, 65536, 64, 0)), (std::vector<Grid>{{1, 29, 8}, {8, 1, 1}}));
  EXPECT_EQ(grids(decode(4, 16, 4, 10000, 64, 0)), (std::vector<Grid>{{1, 14, 16}, {8, 1, 1}}));
  EXPECT_EQ(grids(decode(64, 32, 8, 4096, 128, 0)), (std::vector<Grid>{{1, 64, 8}}));
  Problem chunk{1, 12, 12, 128, 8192, 64, true};
  chunk.num_splits = kernels::kAutoSplits;
  EXPECT_EQ(grids(chunk), (std::vector<Grid>{{2, 11, 12}, {192, 1, 1}}));
}

TEST(SplitPlan, OnePartRunsThePlainKernelOrTheSplitOne) {
  const auto name = [](const KernelPlan& plan) { return plan.launches.at(0).name; };
  const Problem problem = decode(1, 4, 4, 1000, 128, 1);
  EXPECT_EQ(name(kernels::plan_fa2(problem, kH200)), "flash_fwd_kernel<128, 128, 64, 4>");
  EXPECT_EQ(name(kernels::plan_fa2_kvcache(problem, kH200)), "flash_fwd_splitkv_kernel<128, 64, 64, 4>");
  EXPECT_EQ(kernels::plan_fa2_kvcache(problem, kH200).launches.size(), 1U);
  EXPECT_EQ(name(kernels::plan_fa2(decode(1, 4, 4, 1000, 128, 2), kH200)),
            "flash_fwd_splitkv_kernel<128, 64, 128, 4>");
}

TEST(SplitPlan, TilesFollowTheLaunchTemplate) {
  const auto tile = [](std::int64_t head_dim, std::int64_t splits) {
    return kernels::fa2::split_tile(decode(1, 1, 1, 512, head_dim, splits), splits, kH200);
  };
  EXPECT_EQ(tile(64, 2).keys, 256);
  EXPECT_EQ(tile(64, 2).shared_bytes(), 73728U);
  EXPECT_EQ(tile(128, 2).keys, 128);
  EXPECT_EQ(tile(128, 2).shared_bytes(), 81920U);
  EXPECT_EQ(tile(256, 2).keys, 64);
  EXPECT_EQ(tile(64, 1).keys, 128);
  EXPECT_EQ(tile(128, 1).keys, 64);
  EXPECT_EQ(kernels::fa2::combined_rows(128), 4);
  EXPECT_EQ(kernels::fa2::combined_rows(192), 8);
  EXPECT_EQ(kernels::fa2::combined_rows(96), 16);
  EXPECT_THROW(tile(256, 2).head_dim == 0 || (kernels::fa2::split_tile(decode(1, 1, 1, 512, 192, 2), 2,
                                                                       {8, 6, 82, 100 * 1024, 60 * 1024}),
                                              false),
               kernels::UnsupportedProblem);
}

TEST(SplitPlan, PartsVisitTheirOwnBlocks) {
  // 10 blocks of 128 keys in 4 parts: 3, 3, 3 and 1.
  const auto launch = kernels::plan_fa2(decode(1, 2, 2, 1280, 128, 4), kH200).launches.at(0);
  ASSERT_EQ(launch.classes.size(), 4U);
  const auto visits = [&](std::size_t part) {
    const auto& trips = launch.classes[launch.class_of_block[1][part]].trip_counts;
    return trips[0] + 1;  // one iteration is unrolled
  };
  EXPECT_EQ(visits(0), 3U);
  EXPECT_EQ(visits(2), 3U);
  EXPECT_EQ(visits(3), 1U);
  EXPECT_EQ(launch.classes[0].symbols[0], 2);
  EXPECT_EQ(launch.classes[3].symbols[0], 9);
}

// In machine code the others branch around what is for them rows of parts that do not exist.
TEST(SplitPlan, OnlyWarpsThatHaveLogSumsLoadThem) {
  const auto combining = [](std::int64_t splits) {
    return kernels::find_kernel("fa2").build(decode(1, 8, 8, 16384, 128, splits), kH200).launches.at(1);
  };
  const auto count = [](const trace::WarpProgram& program, trace::Opcode opcode) {
    return std::ranges::count(program.code, opcode, &trace::Instruction::opcode);
  };
  const trace::Launch few = combining(3);  // 4 queries x 4 parts: half a warp
  ASSERT_EQ(few.programs.size(), 2U);
  EXPECT_EQ(count(few.programs[0], trace::Opcode::LDG_32), 1);
  EXPECT_EQ(count(few.programs[1], trace::Opcode::LDG_32), 0);
  EXPECT_EQ(count(few.programs[0], trace::Opcode::STG_32), 1);
  EXPECT_EQ(count(few.programs[1], trace::Opcode::STG_32), 0);
  const auto& load =
      *std::ranges::find(few.programs[0].code, trace::Opcode::LDG_32, &trace::Instruction::opcode);
  EXPECT_EQ(few.programs[0].memory_operands.at(load.memory).bytes, 64U);
  // Four lanes share the parts of a query: two shuffles for the greatest, two for the sum.
  EXPECT_EQ(count(few.programs[1], trace::Opcode::SHFL_BFLY), 4);
  const trace::Launch many = combining(32);  // 4 x 32: a thread each
  ASSERT_EQ(many.programs.size(), 1U);
  EXPECT_EQ(count(many.programs[0], trace::Opcode::SHFL_BFLY), 10);
}

// Divisions say where a row of the output lies; the last link of their chain is a predicate.
TEST(SplitPlan, OutputsAreStoredBehindTheirIndices) {
  const trace::Launch launch =
      kernels::find_kernel("fa2").build(decode(1, 8, 8, 16384, 128, 3), kH200).launches.at(1);
  const auto last = [&](trace::Opcode opcode) {
    const auto& code = launch.programs[0].code;
    return std::ranges::find(code.rbegin(), code.rend(), opcode, &trace::Instruction::opcode).base();
  };
  EXPECT_LT(last(trace::Opcode::I2F), last(trace::Opcode::STG_64));
}

TEST(SplitPlan, OneQueryPerHeadIsAGroupOfHeads) {
  const KernelPlan plan = kernels::plan_fa2(decode(3, 12, 4, 1000, 64, 1), kH200);
  EXPECT_EQ(plan.launches.at(0).grid, (Grid{1, 3, 4}));
  EXPECT_EQ(plan.tensors.at(0).segments, 12);
  EXPECT_EQ(plan.tensors.at(0).rows, 3);
}

TEST(SplitPlan, RefusesWhatTheLibraryRefuses) {
  EXPECT_THROW(kernels::plan_fa2(decode(1, 1, 1, 1000, 64, 129), kH200), kernels::UnsupportedProblem);
  const auto refusal = [](const char* kernel) -> std::string {
    try {
      kernels::find_kernel(kernel).build(decode(1, 2, 2, 1000, 64, 4), kH200);
    } catch (const kernels::UnsupportedProblem& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_EQ(refusal("fa1"),
            "kernel fa1 does not have num_splits; kernels that do: fa2, fa2_kvcache, fa2_torch");
  EXPECT_EQ(refusal("fa2"), "");
  Problem training = decode(1, 8, 2, 1000, 64, 1);
  training.pass = kernels::Pass::both;
  EXPECT_THROW(kernels::find_kernel("fa2").build(training, kH200), kernels::UnsupportedProblem);
}

}  // namespace
}  // namespace warpscope::tests
