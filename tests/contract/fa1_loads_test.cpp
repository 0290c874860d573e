// Where warps of FlashAttention-1 wait for their loads, against machine code
// (experiments/reference/machine-code/fa1_loads.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

/// Loops over queries of a launch whose every step loads the earlier output, in the order of the text.
std::vector<std::vector<Instruction>> merging_loops(const kernels::GpuLimits& limits, std::int64_t head_dim,
                                                    bool causal) {
  const kernels::Problem problem{4, 16, 16, 4096, 4096, head_dim, causal};
  const trace::Trace built = kernels::find_kernel("fa1").build(problem, limits);
  std::vector<std::vector<Instruction>> result;
  for (const trace::WarpProgram& program : built.launches[0].programs) {
    for (const trace::Loop& loop : program.loops) {
      const std::vector<Instruction> code(program.code.begin() + loop.begin, program.code.begin() + loop.end);
      const auto loads = std::ranges::count(code, Opcode::LDG_128, &Instruction::opcode);
      const bool innermost = std::ranges::none_of(program.loops, [&](const trace::Loop& other) {
        return other.begin >= loop.begin && other.end <= loop.end &&
               (other.begin != loop.begin || other.end != loop.end);
      });
      if (innermost && loads == (head_dim == 128 ? 6 : 3)) {
        result.push_back(code);
      }
    }
  }
  return result;
}

/// Whether some instruction between the first load and the queries' store waits for what that load sets.
bool waits_before_store(const std::vector<Instruction>& loop) {
  const auto load = std::ranges::find(loop, Opcode::LDG_128, &Instruction::opcode);
  const auto store = std::find_if(
      load, loop.end(), [](const Instruction& instruction) { return instruction.opcode == Opcode::STS_128; });
  return std::any_of(load, store, [&](const Instruction& instruction) {
    return (instruction.control.wait_mask >> load->control.write_scoreboard & 1) != 0;
  });
}

TEST(Fa1Loads, AreWaitedForAtTheQueriesStoreOnA100) {
  for (const std::int64_t head_dim : {64, 128}) {
    for (const bool causal : {false, true}) {
      const auto loops = merging_loops(kA100, head_dim, causal);
      ASSERT_GE(loops.size(), 2U);
      EXPECT_TRUE(std::ranges::none_of(loops, waits_before_store)) << head_dim << causal;
    }
  }
}

TEST(Fa1Loads, AreWaitedForWithTheRowStateInMiddleBlocksOnHopper) {
  for (const std::int64_t head_dim : {64, 128}) {
    for (const bool causal : {false, true}) {
      const auto loops = merging_loops(kH200, head_dim, causal);
      ASSERT_GE(loops.size(), 2U);
      EXPECT_TRUE(std::any_of(loops.begin(), loops.end() - 1, waits_before_store)) << head_dim << causal;
      EXPECT_EQ(waits_before_store(loops.back()), head_dim == 128 && !causal) << "last block";
    }
  }
}

}  // namespace
}  // namespace warpscope::tests
