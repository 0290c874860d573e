// FA2 forward: instructions per iteration against the formulas of its structure and totals of its machine
// code.
#include <gtest/gtest.h>

#include <map>

#include "kernels/kernel.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::GpuLimits;
using trace::Opcode;

struct Tile {
  const GpuLimits& gpu;
  int head_dim;
  int rows;
  int keys;
  int warps;
  int total;  // machine code of the fast-math build, per warp and steady iteration; 0 = not counted
  bool causal = false;
};

std::map<Opcode, std::int64_t> per_iteration(const Tile& tile, std::string_view kernel) {
  const auto count = [&](int blocks) {
    const trace::Trace built = kernels::find_kernel(kernel).build(
        {1, 1, 1, tile.rows, std::int64_t{blocks} * tile.keys, tile.head_dim, tile.causal}, tile.gpu);
    return trace::executed_instructions(built.launches[0]);
  };
  const trace::OpcodeCounts more = count(21);
  const trace::OpcodeCounts fewer = count(20);
  std::map<Opcode, std::int64_t> result;
  for (const auto& [opcode, executed] : more) {
    const auto found = fewer.find(opcode);
    const std::int64_t before = found == fewer.end() ? 0 : static_cast<std::int64_t>(found->second);
    result[opcode] = (static_cast<std::int64_t>(executed) - before) / tile.warps;
  }
  return result;
}

class Fa2Iteration : public testing::TestWithParam<Tile> {};

TEST_P(Fa2Iteration, FollowsFromTheTile) {
  const Tile& tile = GetParam();
  std::map<Opcode, std::int64_t> counts = per_iteration(tile, "fa2");
  const int r = tile.rows / tile.warps;
  const int d = tile.head_dim;
  const int scores = r * tile.keys / 32;  // per thread
  const int rows = r / 8;
  const int output = r * d / 32;
  EXPECT_EQ(counts[Opcode::HMMA_16816_F32], 2 * (r / 16) * (tile.keys / 8) * (d / 16));
  EXPECT_EQ(counts[Opcode::LDSM_X4], (r / 16) * (d / 16) + (tile.keys / 16) * (d / 16));
  EXPECT_EQ(counts[Opcode::LDSM_T_X4], (d / 16) * (tile.keys / 16));
  EXPECT_EQ(counts[Opcode::LDGSTS_128], 2 * tile.keys * d / (8 * 32 * tile.warps));
  EXPECT_EQ(counts[Opcode::SHFL_BFLY], 2 * rows);
  EXPECT_EQ(counts[Opcode::BAR_SYNC], 2);
  EXPECT_EQ(counts[Opcode::LDGDEPBAR], 2);
  EXPECT_EQ(counts[Opcode::DEPBAR_LE], 2);
  EXPECT_EQ(counts[Opcode::LDS_32], 6) << "predicated-off shared loads, three before each burst";
  EXPECT_EQ(counts[Opcode::FMNMX], scores + 2 * rows);
  EXPECT_EQ(counts[Opcode::FFMA], scores + rows);
  EXPECT_EQ(counts[Opcode::FADD], scores);
  EXPECT_EQ(counts[Opcode::FMUL], output + 2 * rows);
  EXPECT_EQ(counts[Opcode::MUFU_EX2], scores + rows);
  EXPECT_EQ(counts[Opcode::F2FP_PACK_AB], scores / 2);
  EXPECT_EQ(counts[Opcode::FSETP], rows);
  EXPECT_EQ(counts[Opcode::FSEL], rows);
}

TEST_P(Fa2Iteration, HasAsManyInstructionsAsTheMachineCode) {
  const Tile& tile = GetParam();
  if (tile.total == 0) {
    GTEST_SKIP() << "machine code not counted";
  }
  std::int64_t total = 0;
  for (const auto& [opcode, count] : per_iteration(tile, "fa2")) {
    total += count;
  }
  EXPECT_NEAR(static_cast<double>(total), tile.total, 2);
}

INSTANTIATE_TEST_SUITE_P(Tiles, Fa2Iteration,
                         testing::Values(Tile{kA100, 32, 128, 128, 4, 872},
                                         Tile{kA100, 64, 128, 128, 4, 1185}, Tile{kA100, 96, 128, 64, 4, 732},
                                         Tile{kA100, 128, 128, 64, 4, 941}, Tile{kA100, 192, 128, 64, 8, 614},
                                         Tile{kA100, 256, 128, 64, 8, 757},
                                         Tile{kH100, 64, 128, 128, 4, 1176},
                                         Tile{kH100, 128, 128, 64, 4, 939}, Tile{kH100, 256, 64, 64, 4, 783},
                                         Tile{kRtx3090, 128, 128, 32, 4, 0}),
                         [](const auto& parameter) {
                           const Tile& tile = parameter.param;
                           return "sm" + std::to_string(tile.gpu.compute_capability_major) +
                                  std::to_string(tile.gpu.compute_capability_minor) + "_d" +
                                  std::to_string(tile.head_dim);
                         });

TEST(Fa2Torch, UnfusedExponentialCostsFiveMorePerScore) {
  std::map<Opcode, std::int64_t> counts = per_iteration({kH100, 64, 128, 128, 4, 0}, "fa2_torch");
  const int scores = 128;
  const int rows = 4;
  const int output = 64;
  EXPECT_EQ(counts[Opcode::FFMA], rows);
  EXPECT_EQ(counts[Opcode::FADD], 2 * scores);
  EXPECT_EQ(counts[Opcode::FMUL], scores + output + 2 * rows + 2 * (scores + rows));
  EXPECT_EQ(counts[Opcode::FSETP], scores + 2 * rows);
  EXPECT_EQ(counts[Opcode::MUFU_EX2], scores + rows);
}

TEST(Fa2Counts, TheCopyOfTheNextKeysStopsWithTheLastBlock) {
  // n blocks copy K and V n times each and Q once, for one CTA; every copy is 8 instructions per warp.
  for (const int blocks : {1, 2, 3, 10}) {
    const trace::Trace built =
        kernels::find_kernel("fa2").build({1, 1, 1, 128, std::int64_t{blocks} * 128, 64, false}, kH100);
    const trace::OpcodeCounts counts = trace::executed_instructions(built.launches[0]);
    EXPECT_EQ(counts.at(Opcode::LDGSTS_128), 4U * 8U * static_cast<unsigned>(2 * blocks + 1)) << blocks;
    EXPECT_EQ(counts.at(Opcode::LDGDEPBAR), 4U * static_cast<unsigned>(2 * blocks)) << blocks;
  }
}

TEST(Fa2Counts, CausalMasksComparesEveryScoreOfTheMaskingSteps) {
  const auto count = [](bool causal) {
    const trace::Trace built = kernels::find_kernel("fa2").build({1, 1, 1, 128, 1280, 64, causal}, kH100);
    return trace::executed_instructions(built.launches[0]);
  };
  const int scores_per_thread = 128;
  EXPECT_GE(count(true).at(Opcode::FSEL), count(false).at(Opcode::FSEL) + 4U * scores_per_thread);
  EXPECT_LE(count(true).at(Opcode::FSEL), count(false).at(Opcode::FSEL) + 4U * (scores_per_thread + 12));
}

}  // namespace
}  // namespace warpscope::tests
