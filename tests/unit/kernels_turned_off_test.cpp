// What a predicate turns off in the texts of kernels: it is planned as if it read its registers, and does
// not.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/compiler/register_ranges.hpp"
#include "kernels/kernel.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using trace::Instruction;
using trace::Opcode;

std::vector<Instruction> code(std::string_view kernel, kernels::Pass pass = kernels::Pass::forward) {
  kernels::Problem problem{.batch = 1, .heads = 1, .heads_kv = 1, .seqlen_q = 512, .seqlen_k = 512};
  problem.head_dim = 64;
  problem.pass = pass;
  const trace::Trace built = kernels::find_kernel(kernel).build(problem, kH100);
  std::vector<Instruction> all;
  for (const trace::Launch& launch : built.launches) {
    for (const trace::WarpProgram& program : launch.programs) {
      all.insert(all.end(), program.code.begin(), program.code.end());
    }
  }
  return all;
}

// exp2f without fast math: an FMUL in front of each exponential and one behind it, for arguments below -126.
TEST(TurnedOff, TheScalingOfExponentialsReadsNothing) {
  for (const kernels::Pass pass : {kernels::Pass::forward, kernels::Pass::backward}) {
    const std::vector<Instruction> all = code("fa2_torch", pass);
    const auto exponentials = std::ranges::count(all, Opcode::MUFU_EX2, &Instruction::opcode);
    std::int64_t turned_off = 0;
    for (const Instruction& instruction : all) {
      if (instruction.opcode == Opcode::FMUL && kernels::reads_predicate(instruction)) {
        ++turned_off;
        EXPECT_EQ(instruction.destination.count, 1);
        EXPECT_EQ(std::ranges::count_if(instruction.sources, [](const auto& s) { return s.count > 0; }), 1);
      }
    }
    EXPECT_GT(exponentials, 100);
    EXPECT_GE(turned_off, 2 * exponentials);
    EXPECT_LE(turned_off, 2 * exponentials + 8) << "besides, of logarithms";
  }
}

// It still writes, as far as those know who wait for it.
TEST(TurnedOff, ExponentialsWaitForTheScalingOfTheirArguments) {
  const std::vector<Instruction> all = code("fa2_torch");
  std::int64_t exponentials = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].opcode != Opcode::MUFU_EX2) {
      continue;
    }
    int cycles = 0;
    for (std::size_t k = i; k-- > 0;) {
      cycles += all[k].control.stall_cycles;
      if (all[k].destination == all[i].sources[0]) {
        EXPECT_EQ(all[k].opcode, Opcode::FMUL);
        EXPECT_GE(cycles, 4) << "latency of an FMUL";
        ++exponentials;
        break;
      }
    }
  }
  EXPECT_GT(exponentials, 100);
}

TEST(TurnedOff, FastMathScalesNothing) {
  EXPECT_TRUE(std::ranges::none_of(code("fa2"), [](const Instruction& instruction) {
    return instruction.opcode == Opcode::FMUL && kernels::reads_predicate(instruction);
  }));
}

}  // namespace
}  // namespace warpscope::tests
