// Instructions of standard attention's backward launches against hardware counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::Problem;
using trace::Launch;
using trace::Trace;

/// One launch on an H200, PyTorch 2.11 (measured-h200/counters.csv, 2048 columns, and standard_backward.csv).
struct Measured {
  std::string launch;
  std::int64_t columns;
  std::uint32_t threads;
  std::uint32_t registers;
  double instructions;          ///< per warp
  std::array<double, 2> pipes;  ///< per warp: ALU, FMA
  double permille;              ///< largest accepted difference, of all instructions
};

const std::vector<Measured> kMeasured = {
    {"vectorized_elementwise_kernel<mul>", 2048, 128, 40, 50, {7, 30}, 0},
    {"elementwise_kernel<masked_fill>", 2048, 128, 18, 211, {80, 40}, 0},
    {"vectorized_elementwise_kernel<mul_scalar>", 2048, 128, 32, 39, {7, 20}, 0},
    {"softmax_warp_backward<6>", 64, 128, 29, 110, {35, 35}, 10},
    {"softmax_warp_backward<7>", 128, 128, 32, 162, {53, 54}, 10},
    {"softmax_warp_backward<8>", 256, 128, 32, 143, {47, 49}, 10},
    {"softmax_warp_backward<9>", 512, 128, 55, 246, {89, 88}, 10},
    {"softmax_warp_backward<10>", 1024, 128, 96, 448, {169, 163}, 10},
    {"cunn_SoftMaxBackwardSmem", 2048, 128, 32, 207, {62, 96.25}, 5},
    {"cunn_SoftMaxBackwardSmem", 4096, 256, 32, 205.5, {62, 95.62}, 20},
    {"cunn_SoftMaxBackwardSmem", 8192, 512, 32, 204.75, {62, 95.3}, 35},
    {"cunn_SoftMaxBackwardSmem", 16384, 512, 32, 336.75, {92, 183.3}, 20},
    {"cunn_SoftMaxBackward", 32768, 512, 40, 624.69, {106.2, 394.2}, 5},
};

const Launch& launch_called(const Trace& trace, const std::string& name) {
  const auto found =
      std::ranges::find_if(trace.launches, [&](const Launch& launch) { return launch.name == name; });
  EXPECT_NE(found, trace.launches.end()) << name;
  return *found;
}

double per_warp(const Launch& launch, double instructions) {
  return instructions / static_cast<double>(trace::cta_count(launch) * trace::warps_per_cta(launch));
}

TEST(StandardBackwardCounters, ElementwiseAndSoftmaxFollowTheMeasuredStreams) {
  for (const Measured& row : kMeasured) {
    SCOPED_TRACE(row.launch + " of " + std::to_string(row.columns));
    Problem problem{2, 1, 1, 64, row.columns, 64, true};
    problem.pass = kernels::Pass::backward;
    const Trace trace = kernels::find_kernel("standard_eager").build(problem, kH200);
    const Launch& launch = launch_called(trace, row.launch);
    EXPECT_EQ(launch.threads_per_cta, row.threads);
    EXPECT_EQ(launch.registers_per_thread, row.registers);
    const trace::OpcodeCounts counts = trace::executed_instructions(launch);
    EXPECT_NEAR(per_warp(launch, static_cast<double>(trace::total(counts))), row.instructions,
                row.permille / 1000 * row.instructions);
    std::array<double, 2> pipes{};
    for (const auto& [opcode, count] : counts) {
      const trace::Pipe pipe = trace::info(opcode).pipe;
      pipes[0] += pipe == trace::Pipe::alu ? per_warp(launch, static_cast<double>(count)) : 0;
      pipes[1] += pipe == trace::Pipe::fma ? per_warp(launch, static_cast<double>(count)) : 0;
    }
    EXPECT_NEAR(pipes[0], row.pipes[0], 0.05 * row.pipes[0]) << "ALU";
    EXPECT_NEAR(pipes[1], row.pipes[1], 0.11 * row.pipes[1]) << "FMA";
  }
}

TEST(StandardBackwardCounters, SharedMemoryOfTheBlockSoftmaxIsTheRowAndAWordPerWarp) {
  for (const auto& [columns, bytes] : {std::pair{2048, 4112}, {4096, 8224}, {8192, 16448}, {16384, 32832}}) {
    Problem problem{1, 1, 1, 16, columns, 64, false};
    problem.pass = kernels::Pass::backward;
    const Trace trace = kernels::find_kernel("standard_eager").build(problem, kH200);
    EXPECT_EQ(launch_called(trace, "cunn_SoftMaxBackwardSmem").shared_bytes_per_cta, bytes);
  }
}

TEST(StandardBackwardCounters, ConcatenationTakesTheCountedInstructionsPerRound) {
  Problem problem{2, 4, 4, 1024, 1024, 64, false};
  problem.pass = kernels::Pass::backward;
  const Trace trace = kernels::find_kernel("standard").build(problem, kH200);
  const Launch& launch = launch_called(trace, "CatArrayBatchedCopy");
  EXPECT_EQ(launch.threads_per_cta, 512U);
  EXPECT_EQ(launch.registers_per_thread, 25U);
  const double rounds = 3.0 * 2 * 4 * 1024 * 64 / 32;
  // Two CTAs per SM and tensor, whatever there is to do.
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{2 * 132, 3, 1}));
  EXPECT_NEAR(static_cast<double>(trace::total(trace::executed_instructions(launch))) / rounds, 85.4,
              0.01 * 85.4);
}

/// CUDA 11.8's code of PyTorch's kernels of 2023 for sm_80 (machine-code/pytorch_2023.csv).
struct Compiled {
  kernels::Pass pass;
  std::int64_t columns;
  std::string launch;
  std::uint32_t registers;
  double instructions;  ///< per warp; 0: not counted
};

TEST(StandardBackwardCounters, OnAnA100KernelsAreThoseOf2023) {
  using kernels::Pass;
  const std::vector<Compiled> rows = {
      {Pass::forward, 512, "softmax_warp_forward<9>", 39, 633},
      {Pass::forward, 1024, "softmax_warp_forward<10>", 55, 1225},
      {Pass::forward, 2048, "cunn_SoftMaxForward", 38, 0},
      {Pass::backward, 32, "softmax_warp_backward<5>", 20, 87},
      {Pass::backward, 64, "softmax_warp_backward<6>", 29, 104},
      {Pass::backward, 128, "softmax_warp_backward<7>", 32, 149},
      {Pass::backward, 256, "softmax_warp_backward<8>", 32, 127},
      {Pass::backward, 512, "softmax_warp_backward<9>", 56, 230},
      {Pass::backward, 1024, "softmax_warp_backward<10>", 109, 437},
      {Pass::backward, 1024, "vectorized_elementwise_kernel<mul>", 19, 33},
      {Pass::backward, 1024, "scale_dq", 15, 26},
  };
  for (const Compiled& row : rows) {
    SCOPED_TRACE(row.launch);
    Problem problem{1, 1, 1, 512, row.columns, 64, false};
    problem.pass = row.pass;
    const Trace trace = kernels::find_kernel("standard").build(problem, kA100);
    const Launch& launch = launch_called(trace, row.launch);
    EXPECT_EQ(launch.registers_per_thread, row.registers);
    if (row.instructions > 0) {
      EXPECT_NEAR(per_warp(launch, static_cast<double>(trace::total(trace::executed_instructions(launch)))),
                  row.instructions, 0.05 * row.instructions);
    }
  }
}

}  // namespace
}  // namespace warpscope::tests
