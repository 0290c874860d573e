// How often a warp executes each instruction, from the trip counts alone.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::trace {

/// Sum and product that throw std::invalid_argument instead of wrapping around.
std::uint64_t checked_add(std::uint64_t a, std::uint64_t b);
std::uint64_t checked_multiply(std::uint64_t a, std::uint64_t b);

/// Executions per entry of the program by one warp of `cta_class`, for stretches of code that share a count:
/// `count` holds for instructions [begin, end).
struct ExecutedStretch {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  std::uint64_t count = 0;
};

/// Covers the code from front to back. Throws std::invalid_argument where a count does not fit 64 bits or a
/// loop's length depends on an outer loop of more than 2^20 trips.
std::vector<ExecutedStretch> executed_stretches(const WarpProgram& program, const CtaClass& cta_class);

}  // namespace warpscope::trace
