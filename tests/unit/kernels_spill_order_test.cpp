// Where counted spills stand: stores before the product of an output block, reloads behind its matrix loads;
// and where they go.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "kernels/compiler/opcode_kinds.hpp"
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
  // Exponentials are fetched when registers are free, everything else behind the products' operands.
  const auto reloads_among_products = std::count_if(first_value_load, last_value_load, kernels::is_reload);
  EXPECT_EQ(reloads_among_products, 14);
  EXPECT_EQ(std::count_if(first_value_load, last_value_load, is(Opcode::LDL)), reloads_among_products);
  EXPECT_EQ(std::count_if(last_value_load, end, is(Opcode::STL)), 0);
}

// ptxas names frames of 208 and 112 bytes. Each word of a warp is a line; those of the four warps are
// neighbours.
TEST(Spills, StayInTheFrameOfTheBuild) {
  const kernels::GpuLimits h100{9, 0, 132, 228 * 1024, 227 * 1024, 0};
  constexpr std::int64_t kWordOfWarpBytes = 128;
  constexpr std::int64_t kWordOfCtaBytes = 4 * kWordOfWarpBytes;
  for (const auto& [kernel, words] : {std::pair("fa2", 52), std::pair("fa2_torch", 28)}) {
    const trace::Trace built = kernels::find_kernel(kernel).build({1, 1, 1, 128, 4096, 64, false}, h100);
    const trace::WarpProgram& program = built.launches[0].programs[0];
    std::set<std::int64_t> stored;
    for (const trace::Instruction& instruction : program.code) {
      if (instruction.opcode == Opcode::STL || instruction.opcode == Opcode::STL_64) {
        const trace::MemoryOperand& slot = program.memory_operands[instruction.memory];
        EXPECT_EQ(slot.offset.offset % kWordOfCtaBytes, 0);
        EXPECT_EQ(slot.offset.per_warp, slot.bytes);
        const std::int64_t first = slot.offset.offset / kWordOfCtaBytes;
        for (std::int64_t word = first; word < first + slot.bytes / kWordOfWarpBytes; ++word) {
          stored.insert(word);
        }
      }
    }
    EXPECT_EQ(stored.size(), static_cast<std::size_t>(words)) << kernel;
    EXPECT_EQ(*stored.rbegin(), words - 1) << kernel;
  }
}

}  // namespace
}  // namespace warpscope::tests
