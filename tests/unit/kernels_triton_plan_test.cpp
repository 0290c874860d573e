// Launches of Triton's attention: modes, shared memory, instructions of an iteration, and what it refuses.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/unsupported.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;
using trace::Opcode;

KernelPlan plan_of(const Problem& problem) {
  return find_kernel("triton").plan(problem, kA100);
}

TEST(TritonPlan, WarpsAndRingFollowTheHeadDimension) {
  struct Want {
    std::int64_t head_dim;
    int warps;
    std::uint32_t shared_bytes;  // two stages of K and V, and Q
  };
  for (const Want& want :
       {Want{16, 4, 20480}, Want{32, 4, 40960}, Want{64, 4, 81920}, Want{128, 8, 163840}}) {
    const KernelPlan plan = plan_of({4, 8, 8, 1024, 1024, want.head_dim});
    ASSERT_EQ(plan.launches.size(), 1U);
    const LaunchPlan& launch = plan.launches[0];
    EXPECT_EQ(launch.warps, want.warps) << want.head_dim;
    EXPECT_EQ(launch.shared_bytes_per_cta, want.shared_bytes) << want.head_dim;
    EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{8, 32, 1}));
    EXPECT_EQ(launch.classes.at(0).trip_counts, (std::vector<std::uint32_t>{8}));
  }
}

TEST(TritonPlan, LongCausalSequencesTakeALaunchForTheDiagonal) {
  const KernelPlan one = plan_of({1, 1, 1, 2048, 2048, 64, true});
  ASSERT_EQ(one.launches.size(), 1U);
  EXPECT_EQ(one.launches[0].classes.at(0).trip_counts.at(0), 1U);
  EXPECT_EQ(one.launches[0].classes.at(15).trip_counts.at(0), 16U);
  const KernelPlan two = plan_of({1, 1, 1, 2176, 2176, 64, true});
  ASSERT_EQ(two.launches.size(), 2U);
  EXPECT_EQ(two.launches[0].classes.at(0).trip_counts.at(0), 0U);
  EXPECT_EQ(two.launches[0].classes.at(16).trip_counts.at(0), 16U);
  EXPECT_EQ(two.launches[1].classes.size(), 1U);
  EXPECT_EQ(two.launches[1].classes.at(0).trip_counts.at(0), 1U);
}

/// Per warp, of one iteration more.
std::map<Opcode, std::int64_t> per_iteration(std::int64_t head_dim, bool causal) {
  const int warps = head_dim <= 64 ? 4 : 8;
  const auto count = [&](std::int64_t blocks) {
    const std::int64_t length = blocks * 128;
    return trace::executed_instructions(
        find_kernel("triton").build({1, 1, 1, length, length, head_dim, causal}, kA100).launches.at(0));
  };
  // n CTAs of n iterations, or causal ones of 1 to n: second differences are 2 and 1 iterations.
  std::map<Opcode, std::int64_t> result;
  for (const auto& [blocks, factor] : {std::pair{8, 1}, std::pair{9, -2}, std::pair{10, 1}}) {
    for (const auto& [opcode, executed] : count(blocks)) {
      result[opcode] += factor * static_cast<std::int64_t>(executed);
    }
  }
  for (auto& [opcode, executed] : result) {
    executed /= (causal ? 1 : 2) * warps;
  }
  return result;
}

TEST(TritonPlan, AnIterationDividesByTheRowSum) {
  for (const std::int64_t d : {64, 128}) {
    for (const bool causal : {false, true}) {
      SCOPED_TRACE(std::to_string(d) + (causal ? " causal" : ""));
      std::map<Opcode, std::int64_t> counts = per_iteration(d, causal);
      const std::int64_t r = d == 64 ? 32 : 16;  // rows of a warp
      const std::int64_t scores = r * 128 / 32;
      const std::int64_t rows = r / 8;
      EXPECT_EQ(counts[Opcode::HMMA_16816_F32], 2 * (r / 16) * 16 * (d / 16));
      EXPECT_EQ(counts[Opcode::LDSM_X4], (r / 16) * (d / 16) + 8 * (d / 16)) << "Q again, and K";
      EXPECT_EQ(counts[Opcode::LDSM_T_X4], 8 * (d / 16));
      EXPECT_EQ(counts[Opcode::LDGSTS_128], 2 * 128 * d / (8 * 32 * (d == 64 ? 4 : 8)));
      EXPECT_EQ(counts[Opcode::LDGDEPBAR], 2);
      EXPECT_EQ(counts[Opcode::DEPBAR_LE], 1);
      EXPECT_EQ(counts[Opcode::BAR_SYNC], 1);
      EXPECT_EQ(counts[Opcode::SHFL_BFLY], 4 * rows) << "the maximum and the sum";
      EXPECT_EQ(counts[Opcode::MUFU_EX2], scores + 2 * rows);
      EXPECT_EQ(counts[Opcode::MUFU_RCP], rows) << "of the new row sum";
      EXPECT_EQ(counts[Opcode::F2FP_PACK_AB], scores / 2);
      EXPECT_EQ(counts[Opcode::FSEL], causal ? scores : 0) << "the mask in every iteration";
      EXPECT_GE(counts[Opcode::FMUL], scores + r * d / 32) << "all scores and the output";
    }
  }
}

/// Per warp, of one step of the main backward launch: what 3 steps more execute.
std::map<Opcode, std::int64_t> per_backward_step(const char* kernel, std::int64_t head_dim) {
  const auto count = [&](std::int64_t blocks) {
    const std::int64_t length = blocks * 128;
    Problem problem{1, 1, 1, length, length, head_dim};
    problem.pass = Pass::backward;
    const trace::Trace built = find_kernel(kernel).build(problem, kA100);
    return trace::executed_instructions(built.launches.at(2));
  };
  // n columns of n steps: the second difference is 2 steps.
  std::map<Opcode, std::int64_t> result;
  for (const auto& [blocks, factor] : {std::pair{4, 1}, std::pair{5, -2}, std::pair{6, 1}}) {
    for (const auto& [opcode, executed] : count(blocks)) {
      result[opcode] += factor * static_cast<std::int64_t>(executed);
    }
  }
  for (auto& [opcode, executed] : result) {
    executed /= 2 * 8;
  }
  return result;
}

// As in the machine code that figure_table.cpp was counted in.
TEST(TritonPlan, AStepOfTheBackwardPassIsThatOfTheMachineCode) {
  for (const std::int64_t d : {64, 128}) {
    SCOPED_TRACE(d);
    const std::int64_t lines = d / 16;  // 16-byte pieces of a tile per thread
    std::map<Opcode, std::int64_t> serial = per_backward_step("triton", d);
    EXPECT_EQ(serial[Opcode::HMMA_16816_F32], 5 * d);
    EXPECT_EQ(serial[Opcode::LDSM_X4] + serial[Opcode::LDSM_T_X4], 2 * (lines + 2 * d / 4) + 16 + 3 * d / 2);
    EXPECT_EQ(serial[Opcode::BAR_SYNC], 9);
    EXPECT_EQ(serial[Opcode::STS_32], 64) << "P and dS";
    EXPECT_EQ(serial[Opcode::STS_64], d / 4);
    EXPECT_EQ(serial[Opcode::LDS_64], d / 4) << "dQ to the accumulator's layout";
    EXPECT_EQ(serial[Opcode::LDG_128], 4 * lines);
    EXPECT_EQ(serial[Opcode::STG_128], 2 * lines);
    EXPECT_EQ(serial[Opcode::MUFU_EX2], 64);
    std::map<Opcode, std::int64_t> parallel = per_backward_step("triton_seqpar", d);
    // 64 rows of dQ^T are half as many as 8 warps have, and all warps work.
    EXPECT_EQ(parallel[Opcode::HMMA_16816_F32], 4 * d + 128);
    EXPECT_EQ(parallel[Opcode::BAR_SYNC], 7);
    EXPECT_EQ(parallel[Opcode::STS_64], 32);
    EXPECT_EQ(parallel[Opcode::LDS_32], d / 2);
    EXPECT_EQ(parallel[Opcode::STG_128], lines);
    EXPECT_EQ(parallel[Opcode::F2FP_PACK_AB], 64 + d / 4);
  }
}

TEST(TritonPlan, TheTransposeOfDqHasConflictsOfBanks) {
  Problem problem{1, 1, 1, 128, 128, 64};
  problem.pass = Pass::backward;
  const trace::Trace built = find_kernel("triton_seqpar").build(problem, kA100);
  std::map<Opcode, std::set<int>> wavefronts;
  const trace::WarpProgram& program = built.launches.at(2).programs.at(0);
  for (const trace::Instruction& instruction : program.code) {
    if (instruction.opcode == Opcode::STS_64 || instruction.opcode == Opcode::LDS_32) {
      wavefronts[instruction.opcode].insert(program.memory_operands.at(instruction.memory).wavefronts);
    }
  }
  // Half a warp stores four rows of 128 words each; eight threads of a row load columns 1024 words apart.
  EXPECT_EQ(wavefronts[Opcode::STS_64], (std::set<int>{8}));
  EXPECT_EQ(wavefronts[Opcode::LDS_32], (std::set<int>{8}));
}

TEST(TritonPlan, BackwardLaunchesAndTheirMemory) {
  Problem problem{2, 4, 4, 512, 512, 64, true};
  problem.pass = Pass::backward;
  const KernelPlan serial = find_kernel("triton").plan(problem, kA100);
  ASSERT_EQ(serial.launches.size(), 4U);
  EXPECT_EQ(serial.launches[2].grid, (std::array<std::uint32_t, 3>{8, 1, 1}));
  EXPECT_EQ(serial.launches[2].shared_bytes_per_cta, 4U * 128 * 64 * 2 + 128 * 128 * 2);
  EXPECT_EQ(serial.tensors.at(9).name, "dQ_sum");
  const KernelPlan parallel = find_kernel("triton_seqpar").plan(problem, kA100);
  EXPECT_EQ(parallel.launches[2].grid, (std::array<std::uint32_t, 3>{8, 4, 1}));
  EXPECT_EQ(parallel.launches[2].classes.at(3).trip_counts, (std::vector<std::uint32_t>{1, 1}));
  EXPECT_EQ(parallel.tensors.at(9).name, "dQ_parts");
  EXPECT_EQ(parallel.tensors.at(9).segments, 4 * 8) << "a dQ for each block of keys";
}

TEST(TritonPlan, RefusesWhatIsNotThere) {
  const Problem good{1, 4, 4, 256, 256, 64, true};
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
  refuses([](Problem& p) { p.head_dim = 96; }, "16, 32, 64 or 128, got 96");
  refuses([](Problem& p) { p.seqlen_k = 384; }, "one length");
  refuses([](Problem& p) { p.seqlen_q = p.seqlen_k = 200; }, "multiple of 128, got 200");
  refuses([](Problem& p) { p.batch = 0; }, "at least 1");
  refuses([](Problem& p) { p.batch = 20000; }, "65535, got 80000");
}

}  // namespace
}  // namespace warpscope::tests
