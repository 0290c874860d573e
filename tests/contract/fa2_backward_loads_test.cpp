// Where warps of FlashAttention-2's backward pass load and wait, against machine code
// (experiments/reference/machine-code/pytorch_backward_loads.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

/// The loop over blocks of queries of PyTorch's main kernel, without a mask.
std::vector<Instruction> step_of(std::int64_t head_dim) {
  const kernels::Problem problem{
      1, 8, 8, 2048, 2048, head_dim, false, kernels::DataType::fp16, kernels::Pass::backward};
  const trace::Trace built = kernels::find_kernel("fa2_torch").build(problem, kH100);
  const trace::WarpProgram& program = built.launches.at(1).programs.at(0);
  const trace::Loop& loop = program.loops.at(0);
  return {program.code.begin() + loop.begin, program.code.begin() + loop.end};
}

bool is(const Instruction& instruction, Opcode opcode) {
  return instruction.opcode == opcode;
}

TEST(Fa2BackwardLoads, RowProductsStandBehindTheExponentials) {
  for (const std::int64_t head_dim : {64, 96, 128, 192, 256}) {
    const auto code = step_of(head_dim);
    const auto load = std::ranges::find(code, Opcode::LDG_32, &Instruction::opcode);
    ASSERT_NE(load, code.end());
    EXPECT_TRUE(std::none_of(load, code.end(), [](const Instruction& i) { return is(i, Opcode::MUFU_EX2); }))
        << head_dim;
    EXPECT_TRUE(std::any_of(load, code.end(), [](const Instruction& i) {
      return is(i, Opcode::HMMA_16816_F32);
    })) << head_dim;
  }
}

TEST(Fa2BackwardLoads, NoMatrixLoadSharesAScoreboardWithALoadUnderWay) {
  for (const std::int64_t head_dim : {32, 64, 96, 128, 192, 256}) {
    std::set<int> under_way;
    for (const Instruction& instruction : step_of(head_dim)) {
      std::erase_if(under_way, [&](int board) { return (instruction.control.wait_mask >> board & 1) != 0; });
      if (is(instruction, Opcode::LDG_32)) {
        under_way.insert(instruction.control.write_scoreboard);
      } else if (is(instruction, Opcode::LDSM_X4) || is(instruction, Opcode::LDSM_T_X4)) {
        EXPECT_FALSE(under_way.contains(instruction.control.write_scoreboard)) << head_dim;
      }
    }
  }
}

TEST(Fa2BackwardLoads, AddressesOfReductionsAreWrittenAgain) {
  const std::map<std::int64_t, std::size_t> addresses = {{64, 5}, {128, 5}, {192, 11}, {256, 6}};
  for (const auto& [head_dim, count] : addresses) {
    std::set<int> pairs;
    int held = 0;
    for (const Instruction& instruction : step_of(head_dim)) {
      if (is(instruction, Opcode::RED_ADD_F32)) {
        ASSERT_EQ(instruction.sources[1].count, 2);
        pairs.insert(instruction.sources[1].first);
        held += instruction.control.read_scoreboard < trace::kNoScoreboard;
      }
    }
    EXPECT_EQ(pairs.size(), count) << head_dim;
    EXPECT_GE(held, 4) << head_dim;
  }
}

}  // namespace
}  // namespace warpscope::tests
