#include "model/sm/loop_texts.hpp"

#include <cstdint>

namespace warpscope::sm {
namespace {

/// Whether two instructions take the same course, each at its own addresses.
bool alike(const DecodedLaunch& launch, std::uint32_t a, std::uint32_t b) {
  const auto course = [](DecodedInstruction instruction) {
    instruction.memory = 0;
    instruction.line = 0;
    instruction.loops_begun = 0;
    return instruction;
  };
  const auto access = [](trace::MemoryOperand operand) {
    operand.segment = operand.offset = {};
    return operand;
  };
  const DecodedInstruction& x = launch.code[a];
  const DecodedInstruction& y = launch.code[b];
  if (launch.needs_register_scoreboard && launch.register_uses[a] != launch.register_uses[b]) {
    return false;
  }
  if (course(x) != course(y) || (x.memory == trace::kNoMemory) != (y.memory == trace::kNoMemory)) {
    return false;
  }
  return x.memory == trace::kNoMemory ||
         access(launch.memory_operands[x.memory]) == access(launch.memory_operands[y.memory]);
}

}  // namespace

void compare_loops(DecodedLaunch& out) {
  const auto same_text = [&](const DecodedLoop& a, const DecodedLoop& b) {
    if (!b.innermost || a.depth != b.depth || a.end - a.begin != b.end - b.begin) {
      return false;
    }
    std::uint32_t i = 0;
    while (i < a.end - a.begin && alike(out, a.begin + i, b.begin + i)) {
      ++i;
    }
    return i == a.end - a.begin;
  };
  for (std::uint32_t number = 0; number < out.loops.size(); ++number) {
    DecodedLoop& loop = out.loops[number];
    loop.text = number;
    for (std::uint32_t earlier = 0; loop.innermost && earlier < number && loop.text == number; ++earlier) {
      if (out.loops[earlier].text == earlier && same_text(loop, out.loops[earlier])) {
        loop.text = earlier;
      }
    }
  }
}

}  // namespace warpscope::sm
