// Where the instructions of a program lie in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::trace {

/// Of each instruction the place of its code, in instructions from the program's begin. Loops that go through
/// the code of another one again lie in that one's places, from the first on.
std::vector<std::uint32_t> code_places(const WarpProgram& program);
/// The same of all programs of a launch, which lie one behind the other. Those of equal instructions, which
/// only access other places, are one text in memory.
std::vector<std::uint32_t> code_places(const Launch& launch);

}  // namespace warpscope::trace
