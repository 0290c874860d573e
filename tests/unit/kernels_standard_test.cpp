// Standard attention: launch lists, bytes per tensor against the published formulas, instructions against
// counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/standard/standard.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/moved_bytes.hpp"

namespace warpscope::tests {
namespace {

using kernels::Problem;
using trace::Launch;
using trace::Trace;

Problem square(std::int64_t batch, std::int64_t heads, std::int64_t seqlen, std::int64_t head_dim,
               bool causal) {
  return {batch, heads, heads, seqlen, seqlen, head_dim, causal};
}

std::vector<std::string> launch_names(const Trace& trace) {
  std::vector<std::string> names;
  for (const Launch& launch : trace.launches) {
    names.push_back(launch.name.substr(0, launch.name.find_first_of("<0123456789")));
  }
  return names;
}

using Names = std::vector<std::string>;

TEST(StandardLaunches, OneSequenceNeedsNoCopies) {
  EXPECT_EQ(launch_names(kernels::find_kernel("standard").build(square(1, 2, 256, 64, false), kA100)),
            (Names{"qk_gemm_", "softmax_warp_forward", "pv_gemm_"}));
}

TEST(StandardLaunches, SeveralSequencesAreCopiedFirst) {
  EXPECT_EQ(launch_names(kernels::find_kernel("standard").build(square(2, 2, 256, 64, false), kA100)),
            (Names{"copy_q", "copy_k", "qk_gemm_", "softmax_warp_forward", "copy_v", "pv_gemm_"}));
}

TEST(StandardLaunches, CausalBuildsTheMaskOnTheWay) {
  EXPECT_EQ(launch_names(kernels::find_kernel("standard").build(square(1, 2, 2048, 64, true), kA100)),
            (Names{"qk_gemm_", "mask_full", "mask_triu", "mask_cast", "add_mask", "cunn_SoftMaxForward",
                   "pv_gemm_"}));
}

TEST(StandardLaunches, EagerSequenceOfTheCounters) {
  EXPECT_EQ(launch_names(kernels::find_kernel("standard_eager").build(square(1, 2, 2048, 64, true), kH200)),
            (Names{"qk_gemm_", "vectorized_elementwise_kernel", "memcpy_device_to_device",
                   "elementwise_kernel", "softmax_warp_forward", "pv_gemm_"}));
}

/// One row of the measured counters: H200, PyTorch 2.11, batch 8, N = 2048, hidden size 2048, forward.
struct Measured {
  std::string launch;
  std::int64_t head_dim;
  bool causal;
  std::uint64_t ctas;
  std::uint32_t threads;
  std::uint32_t registers;
  double instructions;          // sm__inst_executed.sum
  double permille;              // largest accepted difference
  std::array<double, 3> pipes;  // per warp: ALU, FMA, XU
};

const std::vector<Measured> kMeasured = {
    {"vectorized_elementwise_kernel", 64, false, 1048576, 128, 32, 163577856, 0, {7, 20, 0}},
    {"vectorized_elementwise_kernel", 128, true, 524288, 128, 32, 81788928, 0, {7, 20, 0}},
    {"elementwise_kernel", 64, true, 2097152, 128, 18, 1769996288, 0, {80, 44, 0}},
    {"softmax_warp_forward", 64, false, 131072, 128, 80, 1298137088, 0, {576, 919, 192}},
    {"softmax_warp_forward", 64, true, 131072, 128, 80, 1911472128, 2, {1350, 957, 192}},
    {"softmax_warp_forward", 128, true, 65536, 128, 80, 955736064, 2, {1350, 957, 192}},
};

TEST(StandardCounters, ElementwiseAndSoftmaxFollowTheMeasuredStreams) {
  for (const Measured& row : kMeasured) {
    const Trace trace = kernels::find_kernel("standard_eager")
                            .build(square(8, 2048 / row.head_dim, 2048, row.head_dim, row.causal), kH200);
    const auto launch = std::ranges::find_if(
        trace.launches, [&](const Launch& candidate) { return candidate.name.starts_with(row.launch); });
    ASSERT_NE(launch, trace.launches.end()) << row.launch;
    SCOPED_TRACE(row.launch + (row.causal ? " causal" : ""));
    EXPECT_EQ(trace::cta_count(*launch), row.ctas);
    EXPECT_EQ(launch->threads_per_cta, row.threads);
    EXPECT_EQ(launch->registers_per_thread, row.registers);
    const trace::OpcodeCounts counts = trace::executed_instructions(*launch);
    EXPECT_LE(std::abs(static_cast<double>(trace::total(counts)) - row.instructions),
              row.permille / 1000 * row.instructions);
    const std::uint64_t warps = row.ctas * row.threads / 32;
    std::array<double, 3> pipes{};
    constexpr std::array kPipes = {trace::Pipe::alu, trace::Pipe::fma, trace::Pipe::xu};
    for (const auto& [opcode, count] : counts) {
      const auto* pipe = std::ranges::find(kPipes, trace::info(opcode).pipe);
      if (pipe != kPipes.end()) {
        pipes[static_cast<std::size_t>(pipe - kPipes.begin())] +=
            static_cast<double>(count) / static_cast<double>(warps);
      }
    }
    for (std::size_t p = 0; p < pipes.size(); ++p) {
      EXPECT_NEAR(pipes[p], row.pipes[p], 0.01 * row.pipes[p]) << trace::name(kPipes[p]);
    }
  }
}

/// What ran of PyTorch 2.11's softmax over rows of `columns` on an H200 (measured-h200/softmax.md).
struct LongRow {
  std::int64_t columns;
  std::string kernel;
  std::uint32_t registers;
  double instructions;          // per warp
  std::array<double, 2> pipes;  // of them FMA, XU
};
const std::vector<LongRow> kLongRows = {
    {3000, "cunn_SoftMaxForwardReg", 28, 253.25, {99.5, 11.75}},
    {4096, "cunn_SoftMaxForwardReg", 30, 317.91, {127.2, 16}},
    {6144, "cunn_SoftMaxForwardReg", 32, 0, {}},
    {8192, "cunn_SoftMaxForwardReg", 38, 618.91, {247.2, 32}},
    {9216, "cunn_SoftMaxForwardReg", 40, 0, {}},
    {9224, "cunn_SoftMaxForwardSmem", 32, 0, {}},
    {16384, "cunn_SoftMaxForwardSmem", 32, 729.9, {387.2, 64}},
};

TEST(StandardCounters, SoftmaxOfLongRowsFollowsItsMachineCode) {
  for (const LongRow& row : kLongRows) {
    SCOPED_TRACE(row.columns);
    const Trace trace =
        kernels::find_kernel("standard_eager").build(Problem{1, 1, 1, 16, row.columns, 64, false}, kH200);
    const Launch& softmax = trace.launches.at(2);
    EXPECT_EQ(softmax.name, row.kernel);
    EXPECT_EQ(softmax.threads_per_cta, 1024U);
    EXPECT_EQ(softmax.registers_per_thread, row.registers);
    if (row.instructions == 0) {
      continue;  // not measured
    }
    const trace::OpcodeCounts counts = trace::executed_instructions(softmax);
    constexpr double kWarps = 16 * 32;
    // What lies beyond a ragged row is masked here, and left out by the branches there.
    const double tolerance = row.columns % 1024 == 0 ? 0.02 : 0.06;
    EXPECT_NEAR(static_cast<double>(trace::total(counts)) / kWarps, row.instructions,
                tolerance * row.instructions);
    std::array<double, 2> pipes{};
    for (const auto& [opcode, count] : counts) {
      const trace::Pipe pipe = trace::info(opcode).pipe;
      pipes[0] += pipe == trace::Pipe::fma ? static_cast<double>(count) / kWarps : 0;
      pipes[1] += pipe == trace::Pipe::xu ? static_cast<double>(count) / kWarps : 0;
    }
    EXPECT_NEAR(pipes[0], row.pipes[0], 0.07 * row.pipes[0]);
    EXPECT_NEAR(pipes[1], row.pipes[1], 0.03 * row.pipes[1]);
  }
}

/// Bytes that launch number `launch` moves of tensor `name`.
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

// Per warp, of cutlass_80_tensorop_f16_s16816gemm on H200 (measured-h200/gemm.csv): 128x128_32x5 for scores
// from head_dim 64 and 128, 64x128_32x6 for outputs.
TEST(StandardCounters, MatrixProductsAsTheLibraryRunsThem) {
  const auto per_warp = [](const Launch& launch) {
    return static_cast<double>(trace::total(trace::executed_instructions(launch))) /
           (static_cast<double>(trace::cta_count(launch)) * launch.threads_per_cta / 32);
  };
  const Trace narrow = kernels::find_kernel("standard").build(square(2, 2, 1024, 64, false), kA100);
  const Trace wide = kernels::find_kernel("standard").build(square(2, 2, 1024, 128, false), kA100);
  EXPECT_NEAR(per_warp(narrow.launches.at(2)), 1572, 0.03 * 1572);
  EXPECT_NEAR(per_warp(wide.launches.at(2)), 1840, 0.03 * 1840);
  EXPECT_NEAR(per_warp(narrow.launches.back()), 4231, 0.1 * 4231);
}

TEST(StandardBytes, EveryLaunchPassesOverTheScoresOnce) {
  const Problem problem = square(2, 2, 256, 64, true);
  const std::uint64_t scores = 2 * 2 * 2 * 256 * 256;  // 2X of the formulas
  const std::uint64_t matrix = 256 * 256;
  const std::uint64_t heads = 2 * 2 * 2 * 256 * 64;  // 2Y
  const Trace trace = kernels::find_kernel("standard").build(problem, kA100);
  ASSERT_EQ(trace.launches.size(), 10U);
  EXPECT_EQ(moved(trace, 0, "Q"), read(heads));
  EXPECT_EQ(moved(trace, 0, "q_copy"), written(heads));
  // Every element of K is read with the sector of 32 bytes around it: neighbours belong to other CTAs.
  EXPECT_EQ(moved(trace, 1, "K"), read(heads, 16));
  EXPECT_EQ(moved(trace, 1, "k_copy"), written(heads));
  // Two row and two column tiles of 128: each operand is fetched twice.
  EXPECT_EQ(moved(trace, 2, "q_copy"), read(heads, 2));
  EXPECT_EQ(moved(trace, 2, "k_copy"), read(heads, 2));
  EXPECT_EQ(moved(trace, 2, "scores"), written(scores));
  EXPECT_EQ(moved(trace, 3, "mask_full"), written(4 * matrix));
  EXPECT_EQ(moved(trace, 4, "mask_full"), read(4 * matrix));
  EXPECT_EQ(moved(trace, 4, "mask_triu"), written(4 * matrix));
  EXPECT_EQ(moved(trace, 5, "mask_triu"), read(4 * matrix));
  EXPECT_EQ(moved(trace, 5, "mask"), written(2 * matrix));
  EXPECT_EQ(moved(trace, 6, "scores"), read(scores));
  EXPECT_EQ(moved(trace, 6, "mask"), read(2 * matrix, 4));
  EXPECT_EQ(moved(trace, 6, "masked_scores"), written(scores));
  EXPECT_EQ(moved(trace, 7, "masked_scores"), read(scores));
  EXPECT_EQ(moved(trace, 7, "probabilities"), written(scores));
  EXPECT_EQ(moved(trace, 8, "v_copy"), written(heads));
  EXPECT_EQ(moved(trace, 9, "probabilities"), read(scores));
  EXPECT_EQ(moved(trace, 9, "v_copy"), read(heads, 2));
  EXPECT_EQ(moved(trace, 9, "O"), written(heads));
}

TEST(StandardBytes, UnevenLengthsMoveExactlyTheTensors) {
  // 1000 keys: the last column tile of 128 has 104, the last step of 32 has 8, the last row tile 72 of 200
  // rows.
  Problem problem{1, 2, 2, 200, 1000, 64, true};
  const std::uint64_t scores = 2 * 2 * 200 * 1000;
  const Trace trace = kernels::find_kernel("standard_eager").build(problem, kH200);
  ASSERT_EQ(trace.launches.size(), 6U);
  EXPECT_EQ(moved(trace, 0, "Q"), read(2 * 2 * 200 * 64, 8));
  EXPECT_EQ(moved(trace, 0, "K"), read(2 * 2 * 1000 * 64, 2));
  EXPECT_EQ(moved(trace, 0, "scores"), written(scores));
  EXPECT_EQ(moved(trace, 1, "scaled_scores"), written(scores));
  EXPECT_EQ(moved(trace, 2, "scaled_scores"), read(scores));
  EXPECT_EQ(moved(trace, 2, "masked_scores"), written(scores));
  EXPECT_EQ(moved(trace, 3, "causal_mask"), read(200 * 1000, 2));
  EXPECT_EQ(moved(trace, 3, "masked_scores"), in_place(scores));
  EXPECT_EQ(moved(trace, 4, "masked_scores"), read(scores));
  EXPECT_EQ(moved(trace, 4, "probabilities"), written(scores));
  EXPECT_EQ(moved(trace, 5, "probabilities"), read(scores));
  EXPECT_EQ(moved(trace, 5, "V"), read(2 * 2 * 1000 * 64, 2));
  EXPECT_EQ(moved(trace, 5, "O"), written(2 * 2 * 200 * 64));
}

TEST(StandardTrace, IsValidAndSmallForEveryShape) {
  for (const std::int64_t keys : {1, 31, 96, 1001, 1024, 1025, 2049, 16384}) {
    for (const std::int64_t head_dim : {8, 64, 72, 128, 256}) {
      for (const bool causal : {false, true}) {
        const Problem problem{2, 3, 3, std::min<std::int64_t>(keys, 130), keys, head_dim, causal};
        for (const char* kernel : {"standard", "standard_eager"}) {
          const Trace trace = kernels::find_kernel(kernel).build(problem, kA100);
          EXPECT_NO_THROW(trace::validate(trace)) << keys << " keys, head dimension " << head_dim;
          for (const Launch& launch : trace.launches) {
            EXPECT_LE(launch.programs.size(), 2U) << launch.name;
            EXPECT_LE(launch.programs.front().code.size(), 8192U) << launch.name;
          }
        }
      }
    }
  }
}

TEST(StandardBytes, LongRowsAreReadThreeTimes) {
  // Before March 2024 all rows of the block softmax, since then those that shared memory cannot hold.
  const Trace trace2023 = kernels::find_kernel("standard").build(Problem{1, 1, 1, 1, 2048, 64, false}, kA100);
  EXPECT_EQ(moved(trace2023, 1, "scores"), read(2 * 2048, 3));
  Problem problem{1, 1, 1, 1, 16384, 64, false};
  EXPECT_EQ(moved(kernels::find_kernel("standard_eager").build(problem, kA100), 2, "scaled_scores"),
            read(2 * 16384));
  problem.seqlen_k = 32768;
  EXPECT_EQ(moved(kernels::find_kernel("standard_eager").build(problem, kA100), 2, "scaled_scores"),
            read(2 * 32768, 3));
}

TEST(StandardTrace, BlockSoftmaxOf2023HoldsTheDataPathAsItsBankConflictsDid) {
  const Trace trace = kernels::find_kernel("standard").build(Problem{1, 1, 1, 1, 8192, 64, false}, kA100);
  const Launch& softmax = trace.launches.at(1);
  std::uint64_t wavefronts = 0;
  for (const trace::Instruction& instruction : softmax.programs.front().code) {
    if (instruction.opcode == trace::Opcode::LDS_32) {
      wavefronts += softmax.programs.front().memory_operands.at(instruction.memory).wavefronts;
    }
  }
  // Each of two reductions, for 16 warps: 32 loads of 16 words in one bank, 16 single loads, one per warp.
  EXPECT_EQ(wavefronts * 16, 2U * (32 * 16 + 16 + 16));
}

TEST(StandardTrace, TransposingCopyReadsEveryLanesElementOnItsOwn) {
  const Trace trace = kernels::find_kernel("standard").build(square(2, 2, 512, 64, false), kA100);
  for (const auto& [launch, wavefronts] : {std::pair{0U, 0}, {1U, 32}}) {
    const trace::WarpProgram& program = trace.launches.at(launch).programs.front();
    int loads = 0;
    for (const trace::Instruction& instruction : program.code) {
      if (instruction.memory == trace::kNoMemory) {
        continue;
      }
      const bool is_load = instruction.opcode == trace::Opcode::LDG_16;
      loads += is_load ? 1 : 0;
      EXPECT_EQ(program.memory_operands.at(instruction.memory).wavefronts, is_load ? wavefronts : 0);
      EXPECT_EQ(program.memory_operands.at(instruction.memory).lines, is_load ? wavefronts : 0);
    }
    EXPECT_EQ(loads, 4) << trace.launches.at(launch).name;
  }
}

/// Warp instructions that each warp of the launch called `name` executes.
double per_warp(const Trace& trace, const std::string& name) {
  const auto launch = std::ranges::find_if(
      trace.launches, [&](const Launch& candidate) { return candidate.name.starts_with(name); });
  const std::uint64_t warps = trace::cta_count(*launch) * trace::warps_per_cta(*launch);
  return static_cast<double>(trace::total(trace::executed_instructions(*launch))) /
         static_cast<double>(warps);
}

// Counted on an H200, walked through listings for sm_80 (measured-h200/elementwise.md). The sum's zeros are
// not all in the model.
TEST(StandardCounters, CopiesAndTheMaskHaveTheInstructionsOfTheMachineCode) {
  const Problem problem = square(2, 2, 512, 64, true);
  const Trace hopper = kernels::find_kernel("standard").build(problem, kH200);
  EXPECT_EQ(per_warp(hopper, "copy_q"), 266);
  EXPECT_EQ(per_warp(hopper, "copy_k"), 218);
  EXPECT_NEAR(per_warp(hopper, "add_mask"), 227, 0.05 * 227);
  const Trace ampere = kernels::find_kernel("standard").build(problem, kA100);
  EXPECT_NEAR(per_warp(ampere, "copy_q"), 209, 0.02 * 209);
  EXPECT_NEAR(per_warp(ampere, "copy_k"), 173, 0.02 * 173);
  EXPECT_NEAR(per_warp(ampere, "add_mask"), 177, 0.05 * 177);
}

TEST(StandardTrace, GemmDoesTheWholeProduct) {
  const Trace trace = kernels::find_kernel("standard").build(square(1, 2, 512, 64, true), kA100);
  // m16n8k16 does 2048 multiply-adds; a causal mask saves nothing.
  const std::uint64_t product = 2ULL * 512 * 512 * 64 / 2048;
  EXPECT_EQ(trace::executed_instructions(trace.launches.front()).at(trace::Opcode::HMMA_16816_F32), product);
  EXPECT_EQ(trace::executed_instructions(trace.launches.back()).at(trace::Opcode::HMMA_16816_F32), product);
}

}  // namespace
}  // namespace warpscope::tests
