// The library's products on Hopper: numbers, tiles, and what the warps of each role execute.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/numeric/check_numbers.hpp"
#include "kernels/standard/tile_walk.hpp"
#include "kernels/standard/wgmma_gemm.hpp"
#include "model/trace/statistics.hpp"
#include "model/trace/text_reader.hpp"
#include "model/trace/text_writer.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;
using standard::choose_wgmma_tile;
using trace::Opcode;

GpuLimits hopper(int sms = 132) {
  GpuLimits limits;
  limits.compute_capability_major = 9;
  limits.sm_count = sms;
  limits.shared_bytes_per_cta = 232448;
  limits.shared_bytes_per_sm = 233472;
  return limits;
}

Problem product(std::int64_t batch, std::int64_t rows, std::int64_t cols, std::int64_t depth) {
  Problem problem;
  problem.type = ProblemType::gemm;
  problem.batch = batch;
  problem.matrix = {rows, cols, depth};
  return problem;
}

TEST(WgmmaGemm, NumbersAreRightWhereverTilesEnd) {
  // Few SMs, so that CTAs have several tiles each; clusters that share rows, columns, and none.
  const std::array problems = {product(1, 256, 256, 192), product(3, 130, 128, 64), product(2, 200, 64, 320),
                               product(1, 512, 192, 128), product(2, 64, 64, 64)};
  for (const Problem& problem : problems) {
    const GpuLimits limits = hopper(4);
    const Kernel kernel = find_kernel("gemm");
    EXPECT_NE(kernel.plan(problem, limits).launches[0].name.find("wgmma"), std::string::npos);
    const NumberCheck check = check_numbers(kernel, problem, limits);
    EXPECT_TRUE(check.passed()) << problem.matrix.rows << " x " << problem.matrix.cols << ": "
                                << check.outputs.at(0).largest_error;
  }
}

TEST(WgmmaGemm, StandardAttentionIsRightInBothPasses) {
  Problem problem;
  problem.heads = problem.heads_kv = 2;
  problem.seqlen_q = problem.seqlen_k = 128;
  problem.pass = Pass::both;
  EXPECT_TRUE(check_numbers(find_kernel("standard"), problem, hopper(4)).passed());
}

TEST(WgmmaGemm, TilesAreTheLibrarysWhereItHasThem) {
  const auto tile = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    standard::GemmTask task;
    task.m = m;
    task.n = n;
    task.k = k;
    const auto chosen = choose_wgmma_tile(task, hopper());
    return chosen ? std::pair{chosen->m, chosen->n} : std::pair{0, 0};
  };
  EXPECT_EQ(tile(1024, 1024, 1024), (std::pair{128, 64}));
  EXPECT_EQ(tile(2048, 2048, 2048), (std::pair{256, 128}));
  EXPECT_EQ(tile(4096, 4096, 4096), (std::pair{256, 128}));
  EXPECT_EQ(tile(256, 7680, 768), (std::pair{128, 128}));
  EXPECT_EQ(tile(1024, 1000, 1024), (std::pair{0, 0}));  // no tile divides the columns
  EXPECT_EQ(tile(1024, 1024, 72), (std::pair{0, 0}));
  standard::GemmTask task;
  task.m = task.n = task.k = 4096;
  EXPECT_FALSE(choose_wgmma_tile(task, GpuLimits{}));  // Ampere
}

TEST(WgmmaGemm, CountsAreThoseOfTheProduct) {
  const trace::Launch launch = find_kernel("gemm").build(product(1, 4096, 4096, 4096), hopper()).launches[0];
  const trace::OpcodeCounts counts = trace::executed_instructions(launch);
  EXPECT_EQ(counts.at(Opcode::HGMMA_64X128X16_F32), 2097152);  // as counted on an H200
  EXPECT_EQ(counts.at(Opcode::UTMALDG), 65536);                // likewise
  EXPECT_EQ(counts.at(Opcode::STSM_X4), 65536);                // likewise
  EXPECT_EQ(trace::flops(counts), 2ULL * 4096 * 4096 * 4096);
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{2, 66, 1}));
  EXPECT_EQ(launch.threads_per_cta, 384U);
}

TEST(WgmmaGemm, EveryByteOfTheOperandsComesOncePerCluster) {
  const trace::Trace trace = find_kernel("gemm").build(product(1, 2048, 2048, 2048), hopper());
  const auto bytes = trace::requested_bytes(trace, trace.launches[0]);
  constexpr std::uint64_t kMatrix = 2048 * 2048 * 2;
  EXPECT_EQ(bytes[0].read, kMatrix * 2048 / 256);  // A, for two columns of tiles at a time
  EXPECT_EQ(bytes[1].read, kMatrix * 2048 / 256);  // B, for each row of tiles
  EXPECT_EQ(bytes[2].written, kMatrix);
}

TEST(WgmmaGemm, TilesAreWalkedOnceEach) {
  standard::GemmTask task;
  task.m = 600;
  task.n = 384;
  task.k = 64;
  task.batch = 5;
  const standard::WgmmaTile tile{128, 128, 4, 2};
  LaunchPlan launch;
  const standard::TileWalk walk(task, tile, 8);
  walk.add_classes(launch, 0);
  std::vector<std::array<std::int64_t, 3>> seen;
  for (const PlanClass& cta : launch.classes) {
    const std::size_t length = cta.symbols.size() / 4;
    for (std::size_t turn = 0; turn < cta.trip_counts[0]; ++turn) {
      seen.push_back({cta.symbols[turn], cta.symbols[length + turn], cta.symbols[2 * length + turn]});
      EXPECT_EQ(cta.symbols[3 * length + turn], seen.back()[1] * 3 + seen.back()[2]);
    }
  }
  std::ranges::sort(seen);
  EXPECT_EQ(seen.size(), 5U * 5U * 3U);
  EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end());
}

TEST(WgmmaGemm, TextOfTheTraceReadsBackTheSame) {
  const trace::Trace trace = find_kernel("gemm").build(product(2, 256, 256, 192), hopper(4));
  const std::string text = trace::to_text(trace);
  std::istringstream input(text);
  EXPECT_EQ(trace::read_text(input, "text"), trace);
  EXPECT_NE(text.find("mbarriers slots="), std::string::npos);
  EXPECT_NE(text.find("segment=tab0"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::tests
