#include "model/sm/instruction_lines.hpp"

#include <algorithm>

namespace warpscope::sm {

InstructionLines::InstructionLines(std::uint32_t lines, std::uint32_t code_lines) {
  const std::uint32_t needed = (code_lines + kInstructionWays - 1) / kInstructionWays;
  sets_.resize(std::max<std::uint32_t>(1, std::min(lines / kInstructionWays, std::bit_ceil(needed))));
}

int InstructionLines::held() const {
  std::ptrdiff_t lines = 0;
  for (const Set& set : sets_) {
    lines += std::ranges::count_if(set.tag, [](std::uint16_t tag) { return tag != 0; });
  }
  return static_cast<int>(lines);
}

}  // namespace warpscope::sm
