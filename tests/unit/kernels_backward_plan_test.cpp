// How urgent the instructions of a block are.
#include <gtest/gtest.h>

#include "kernels/compiler/dependence_graph.hpp"
#include "tests/support/instruction.hpp"

namespace warpscope::tests {
namespace {

using kernels::CompilerTarget;
using trace::Instruction;
using trace::Opcode;

std::vector<int> priorities(const std::vector<Instruction>& code) {
  const kernels::DependenceGraph graph = kernels::build_graph({code, false}, {}, CompilerTarget{});
  std::vector<int> result;
  for (const kernels::DependenceNode& node : graph.nodes) {
    result.push_back(node.priority);
  }
  return result;
}

TEST(BackwardPlan, AChainIsAsUrgentAsItIsLong) {
  const CompilerTarget target;
  const int add = target.fma_latency;
  const std::vector<int> found =
      priorities({make(Opcode::FADD, r(40), {r(41)}), make(Opcode::FADD, r(40), {r(40)}),
                  make(Opcode::FADD, r(40), {r(40)})});
  EXPECT_EQ(found, (std::vector{2 * add, add, 0}));
}

TEST(BackwardPlan, ExponentialsOfOneProductAreWantedOneAfterTheOther) {
  const CompilerTarget target;
  const std::vector<int> found =
      priorities({make(Opcode::MUFU_EX2, r(40), {r(50)}), make(Opcode::MUFU_EX2, r(41), {r(51)}),
                  make(Opcode::MUFU_EX2, r(42), {r(52)}),
                  make(Opcode::HMMA_16816_F32, r(60), {r(40, 3), r(44), r(60)})});
  const int last = target.xu_latency;
  const int apart = target.xu_order_interval;
  EXPECT_EQ(found, (std::vector{last + 2 * apart, last + apart, last, 0}));
}

TEST(BackwardPlan, ProductsTakeTurnsAtTheirPipe) {
  const CompilerTarget target;
  const int apart = target.hmma_16816_interval + target.hmma_plan_spare_cycles;
  const std::vector<int> found = priorities({make(Opcode::HMMA_16816_F32, r(60), {r(40), r(41), r(60)}),
                                             make(Opcode::HMMA_16816_F32, r(61), {r(40), r(41), r(61)}),
                                             make(Opcode::HMMA_16816_F32, r(62), {r(40), r(41), r(62)})});
  EXPECT_EQ(found, (std::vector{2 * apart, apart, 0}));
}

}  // namespace
}  // namespace warpscope::tests
