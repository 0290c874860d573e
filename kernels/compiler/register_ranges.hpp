// Ranges of registers and how they meet.
#pragma once

#include <algorithm>
#include <cstddef>

#include "model/trace/instruction.hpp"

namespace warpscope::kernels {

/// Calls `visit` with the number of each register of `range`.
template <typename Visit>
void each_register(const trace::RegisterRange& range, const Visit& visit) {
  for (std::size_t k = 0; k < range.count; ++k) {
    visit(range.first + k);
  }
}

inline bool is_predicate(const trace::RegisterRange& range) {
  return range.count > 0 && range.first >= trace::kFirstPredicate;
}

inline bool reads_predicate(const trace::Instruction& instruction) {
  return std::ranges::any_of(instruction.sources, is_predicate);
}

inline bool overlaps(const trace::RegisterRange& left, const trace::RegisterRange& right) {
  return left.first < right.first + right.count && right.first < left.first + left.count;
}

/// Whether `instruction` reads a register of `range`.
inline bool reads(const trace::Instruction& instruction, const trace::RegisterRange& range) {
  return std::ranges::any_of(instruction.sources,
                             [&](const trace::RegisterRange& source) { return overlaps(source, range); });
}

}  // namespace warpscope::kernels
