// Single instructions for tests of the compiler.
#pragma once

#include <algorithm>
#include <vector>

#include "model/trace/instruction.hpp"

namespace warpscope::tests {

inline trace::Instruction make(trace::Opcode opcode, trace::RegisterRange destination,
                               const std::vector<trace::RegisterRange>& sources = {}) {
  trace::Instruction result;
  result.opcode = opcode;
  result.destination = destination;
  std::ranges::copy(sources, result.sources.begin());
  return result;
}

}  // namespace warpscope::tests
