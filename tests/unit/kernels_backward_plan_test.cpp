// How urgent the instructions of a block are.
#include <gtest/gtest.h>

#include "kernels/compiler/dependence_graph.hpp"
#include "tests/support/instruction.hpp"

namespace warpscope::tests {
namespace {

using kernels::CompilerTarget;
using trace::Instruction;
using trace::Opcode;
using trace::RegisterRange;

RegisterRange at_register(int first, int count = 1) {
  return {static_cast<std::uint16_t>(first), static_cast<std::uint8_t>(count)};
}

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
  const std::vector<int> found = priorities({make(Opcode::FADD, at_register(40), {at_register(41)}),
                                             make(Opcode::FADD, at_register(40), {at_register(40)}),
                                             make(Opcode::FADD, at_register(40), {at_register(40)})});
  EXPECT_EQ(found, (std::vector{2 * add, add, 0}));
}

TEST(BackwardPlan, ExponentialsOfOneProductAreWantedOneAfterTheOther) {
  const CompilerTarget target;
  const std::vector<int> found = priorities({make(Opcode::MUFU_EX2, at_register(40), {at_register(50)}),
                                             make(Opcode::MUFU_EX2, at_register(41), {at_register(51)}),
                                             make(Opcode::MUFU_EX2, at_register(42), {at_register(52)}),
                                             make(Opcode::HMMA_16816_F32, at_register(60),
                                                  {at_register(40, 3), at_register(44), at_register(60)})});
  const int last = target.xu_latency;
  const int apart = target.xu_order_interval;
  EXPECT_EQ(found, (std::vector{last + 2 * apart, last + apart, last, 0}));
}

TEST(BackwardPlan, ProductsTakeTurnsAtTheirPipe) {
  const int apart = CompilerTarget{}.hmma_plan_interval;
  const std::vector<int> found = priorities(
      {make(Opcode::HMMA_16816_F32, at_register(60), {at_register(40), at_register(41), at_register(60)}),
       make(Opcode::HMMA_16816_F32, at_register(61), {at_register(40), at_register(41), at_register(61)}),
       make(Opcode::HMMA_16816_F32, at_register(62), {at_register(40), at_register(41), at_register(62)})});
  EXPECT_EQ(found, (std::vector{2 * apart, apart, 0}));
}

}  // namespace
}  // namespace warpscope::tests
