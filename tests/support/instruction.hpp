// Single instructions for tests of the compiler.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/trace/instruction.hpp"

namespace warpscope::tests {

/// `count` registers from `first` on.
inline trace::RegisterRange r(int first, int count = 1) {
  return {static_cast<std::uint16_t>(first), static_cast<std::uint8_t>(count)};
}

inline trace::Instruction make(trace::Opcode opcode, trace::RegisterRange destination,
                               const std::vector<trace::RegisterRange>& sources = {}) {
  trace::Instruction result;
  result.opcode = opcode;
  result.destination = destination;
  std::ranges::copy(sources, result.sources.begin());
  return result;
}

}  // namespace warpscope::tests
