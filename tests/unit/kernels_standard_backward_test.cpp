// The backward pass of standard attention: launch lists, bytes per tensor, products.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/standard/gemm.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/moved_bytes.hpp"

namespace warpscope::tests {
namespace {

using kernels::Problem;
using trace::Launch;
using trace::Trace;

Trace gradients(const std::string& kernel, Problem problem) {
  problem.pass = kernels::Pass::backward;
  return kernels::find_kernel(kernel).build(problem, kA100);
}

std::vector<std::string> launch_names(const Trace& trace) {
  std::vector<std::string> names;
  for (const Launch& launch : trace.launches) {
    names.push_back(launch.name.substr(0, launch.name.find_first_of("<0123456789")));
  }
  return names;
}

using Names = std::vector<std::string>;

MovedBytes moved(const Trace& trace, std::size_t launch, const std::string& name) {
  return moved_bytes(trace, trace.launches.at(launch)).at(name);
}

/// Every byte of the tensor, `times` times.
MovedBytes read(std::uint64_t bytes, std::uint64_t times = 1) {
  return {times * bytes, 0, bytes};
}
MovedBytes written(std::uint64_t bytes) {
  return {0, bytes, bytes};
}
MovedBytes in_place(std::uint64_t bytes) {
  return {bytes, bytes, bytes};
}

TEST(StandardBackwardLaunches, EagerSequenceOfTheCounters) {
  EXPECT_EQ(launch_names(gradients("standard_eager", {1, 2, 2, 2048, 2048, 64, true})),
            (Names{"dv_gemm_", "dp_gemm_", "vectorized_elementwise_kernel", "cunn_SoftMaxBackwardSmem",
                   "memcpy_device_to_device", "elementwise_kernel", "vectorized_elementwise_kernel",
                   "dk_gemm_", "dq_gemm_"}));
  EXPECT_EQ(gradients("standard_eager", {1, 2, 2, 2048, 2048, 64, false}).launches.size(), 7U);
}

TEST(StandardBackwardLaunches, BenchmarkScalesGradientsAndConcatenatesThem) {
  const Names all = {"dv_gemm_",
                     "dp_gemm_",
                     "vectorized_elementwise_kernel",
                     "softmax_warp_backward",
                     "dq_gemm_",
                     "scale_dq",
                     "dk_gemm_",
                     "scale_dk",
                     "CatArrayBatchedCopy"};
  EXPECT_EQ(launch_names(gradients("standard", {1, 2, 2, 256, 256, 64, false})), all);
  // The mask was added, which has no backward launch.
  EXPECT_EQ(launch_names(gradients("standard", {2, 2, 2, 256, 256, 64, true})), all);
}

TEST(StandardBackwardLaunches, RowsOfPyTorch2023AreNotKeptInSharedMemory) {
  EXPECT_EQ(gradients("standard", {1, 1, 1, 64, 2048, 64, false}).launches.at(3).name,
            "cunn_SoftMaxBackward");
  // Rows that do not begin at a multiple of 16 bytes, and rows beyond 48 KB.
  EXPECT_EQ(gradients("standard_eager", {1, 1, 1, 64, 2044, 64, false}).launches.at(3).name,
            "cunn_SoftMaxBackward");
  EXPECT_EQ(gradients("standard_eager", {1, 1, 1, 64, 32768, 64, false}).launches.at(3).name,
            "cunn_SoftMaxBackward");
}

TEST(StandardBackwardLaunches, BothPassesAreOneStream) {
  Problem problem{2, 2, 2, 256, 256, 64, false};
  problem.pass = kernels::Pass::both;
  const Trace trace = kernels::find_kernel("standard").build(problem, kA100);
  EXPECT_EQ(trace.launches.size(), 6U + 9U);
  int probabilities = 0;
  for (const trace::Tensor& tensor : trace.tensors) {
    probabilities += tensor.name == "probabilities" ? 1 : 0;
  }
  EXPECT_EQ(probabilities, 1);
}

TEST(StandardBackwardBytes, EveryLaunchPassesOverTheScores) {
  const std::uint64_t scores = 2 * 2 * 2 * 256 * 256;  // 2X of the formulas
  const std::uint64_t heads = 2 * 2 * 2 * 256 * 64;    // 2Y
  const Trace trace = gradients("standard_eager", {2, 2, 2, 256, 256, 64, true});
  ASSERT_EQ(trace.launches.size(), 9U);
  EXPECT_EQ(moved(trace, 0, "probabilities"), read(scores));
  EXPECT_EQ(moved(trace, 0, "dO"), read(heads, 2));
  EXPECT_EQ(moved(trace, 0, "dV"), written(heads));
  EXPECT_EQ(moved(trace, 1, "dO"), read(heads, 2));
  EXPECT_EQ(moved(trace, 1, "V"), read(heads, 2));
  EXPECT_EQ(moved(trace, 1, "dP"), written(scores));
  EXPECT_EQ(moved(trace, 2, "dP"), read(scores));
  EXPECT_EQ(moved(trace, 2, "probabilities"), read(scores));
  EXPECT_EQ(moved(trace, 2, "dP_times_P"), written(scores));
  EXPECT_EQ(moved(trace, 3, "dP_times_P"), read(scores));
  EXPECT_EQ(moved(trace, 3, "probabilities"), read(scores));
  EXPECT_EQ(moved(trace, 3, "dS"), written(scores));
  EXPECT_EQ(moved(trace, 4, "dS"), read(scores));
  EXPECT_EQ(moved(trace, 4, "masked_dS"), written(scores));
  EXPECT_EQ(moved(trace, 5, "causal_mask"), read(256 * 256, 4));
  EXPECT_EQ(moved(trace, 5, "masked_dS"), in_place(scores));
  EXPECT_EQ(moved(trace, 6, "masked_dS"), read(scores));
  EXPECT_EQ(moved(trace, 6, "scaled_dS"), written(scores));
  EXPECT_EQ(moved(trace, 7, "scaled_dS"), read(scores));
  EXPECT_EQ(moved(trace, 7, "Q"), read(heads, 2));
  EXPECT_EQ(moved(trace, 7, "dK"), written(heads));
  EXPECT_EQ(moved(trace, 8, "scaled_dS"), read(scores));
  EXPECT_EQ(moved(trace, 8, "K"), read(heads, 2));
  EXPECT_EQ(moved(trace, 8, "dQ"), written(heads));
}

TEST(StandardBackwardBytes, RaggedProductsMoveExactlyTheTensors) {
  // 200 queries and 1000 keys: ragged tiles of 128 in rows, columns and depth, with A transposed too.
  const std::uint64_t scores = 2 * 2 * 200 * 1000;
  const Trace trace = gradients("standard_eager", {1, 2, 2, 200, 1000, 72, false});
  EXPECT_EQ(moved(trace, 0, "probabilities"), read(scores));
  EXPECT_EQ(moved(trace, 0, "dV"), written(2 * 2 * 1000 * 72));
  EXPECT_EQ(moved(trace, 5, "scaled_dS"), read(scores));
  EXPECT_EQ(moved(trace, 5, "Q"), read(2 * 2 * 200 * 72, 8));
  EXPECT_EQ(moved(trace, 5, "dK"), written(2 * 2 * 1000 * 72));
  EXPECT_EQ(moved(trace, 6, "dQ"), written(2 * 2 * 200 * 72));
}

TEST(StandardBackwardBytes, ConcatenationReadsSectorsOfTheTransposedGradient) {
  const std::uint64_t heads = 2 * 2 * 2 * 256 * 64;
  const Trace trace = gradients("standard", {2, 2, 2, 256, 256, 64, false});
  const std::size_t last = trace.launches.size() - 1;
  EXPECT_EQ(moved(trace, last, "dQ_heads"), read(heads));
  // Lanes take a sector each, for one of its 16 keys.
  EXPECT_EQ(moved(trace, last, "dK_heads"), read(heads, 16));
  EXPECT_EQ(moved(trace, last, "dV_heads"), read(heads));
  EXPECT_EQ(moved(trace, last, "dQ"), written(heads));
  EXPECT_EQ(moved(trace, last, "dK"), written(heads));
  EXPECT_EQ(moved(trace, last, "dV"), written(heads));
}

TEST(StandardBackwardTrace, TransposedOperandsAreTransposedByTheirLoads) {
  const Trace trace = gradients("standard_eager", {1, 1, 1, 512, 512, 64, false});
  const auto count = [&](std::size_t launch, trace::Opcode opcode) {
    const trace::OpcodeCounts counts = trace::executed_instructions(trace.launches.at(launch));
    const auto found = counts.find(opcode);
    return found == counts.end() ? 0U : found->second;
  };
  const std::uint64_t product = 512ULL * 512 * 64 / 2048;  // m16n8k16
  for (const std::size_t launch : {0, 1, 5, 6}) {
    EXPECT_EQ(count(launch, trace::Opcode::HMMA_16816_F32), product);
  }
  // dV = P' dO: both operands are stored along the sum's direction in rows.
  EXPECT_EQ(count(0, trace::Opcode::LDSM_X4), 0U);
  EXPECT_GT(count(0, trace::Opcode::LDSM_T_X4), 0U);
  // dP = dO V': neither is.
  EXPECT_GT(count(1, trace::Opcode::LDSM_X4), 0U);
  EXPECT_EQ(count(1, trace::Opcode::LDSM_T_X4), 0U);
  // dQ = dS K: only K is.
  EXPECT_GT(count(6, trace::Opcode::LDSM_X4), 0U);
  EXPECT_GT(count(6, trace::Opcode::LDSM_T_X4), 0U);
}

TEST(StandardBackwardTrace, FewRowsOfATransposedAreAHeadDimension) {
  using kernels::standard::choose_gemm_tile;
  EXPECT_EQ(choose_gemm_tile(64, 2048, kA100, true).n, 128);
  EXPECT_EQ(choose_gemm_tile(64, 2048, kA100, false).n, 64);
  EXPECT_EQ(choose_gemm_tile(64, 64, kA100, true).n, 64);
}

TEST(StandardBackwardTrace, IsValidAndSmallForEveryShape) {
  for (const std::int64_t keys : {1, 31, 96, 1001, 1024, 1025, 2049, 16384}) {
    for (const std::int64_t head_dim : {8, 64, 72, 128, 256}) {
      for (const char* kernel : {"standard", "standard_eager"}) {
        const Trace trace =
            gradients(kernel, {2, 3, 3, std::min<std::int64_t>(keys, 130), keys, head_dim, true});
        EXPECT_NO_THROW(trace::validate(trace)) << keys << " keys, head dimension " << head_dim;
        for (const Launch& launch : trace.launches) {
          EXPECT_LE(launch.programs.size(), 4U) << launch.name;
          EXPECT_LE(launch.programs.front().code.size(), 8192U) << launch.name;
        }
      }
    }
  }
}

}  // namespace
}  // namespace warpscope::tests
