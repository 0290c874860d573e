// Where counted spills stand: stores before the product of an output block, reloads behind its matrix loads.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/fa2/fa2.hpp"

namespace warpscope::tests {
namespace {

using trace::Opcode;

TEST(Spills, StandAroundTheMatrixLoads) {
  const kernels::GpuLimits h100{9, 0, 132, 228 * 1024, 227 * 1024, 0};
  const trace::Trace built = kernels::find_kernel("fa2").build({1, 1, 1, 128, 4096, 64, false}, h100);
  const trace::WarpProgram& program = built.launches[0].programs[0];
  // The loop with most trips is the main one.
  const trace::CtaClass& cta_class = built.launches[0].classes[0];
  const trace::Loop& loop = *std::ranges::max_element(program.loops, {}, [&](const trace::Loop& candidate) {
    return cta_class.trip_counts[candidate.trip_slot];
  });
  const auto begin = program.code.begin() + loop.begin;
  const auto end = program.code.begin() + loop.end;
  const auto is = [](Opcode opcode) {
    return [opcode](const trace::Instruction& instruction) { return instruction.opcode == opcode; };
  };
  const auto first_value_load = std::find_if(begin, end, is(Opcode::LDSM_T_X4));
  const auto last_value_load =
      std::find_if(std::make_reverse_iterator(end), std::make_reverse_iterator(begin), is(Opcode::LDSM_T_X4))
          .base();
  EXPECT_EQ(std::count_if(begin, end, is(Opcode::STL)), 35);
  EXPECT_EQ(std::count_if(begin, end, is(Opcode::LDL)), 36);
  EXPECT_EQ(std::count_if(first_value_load, last_value_load, is(Opcode::LDL)), 0);
  EXPECT_EQ(std::count_if(last_value_load, end, is(Opcode::STL)), 0);
}

}  // namespace
}  // namespace warpscope::tests
