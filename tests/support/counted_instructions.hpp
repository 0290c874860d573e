// Instructions that a launch executes, to hold against hardware counters.
#pragma once

#include <string_view>

#include "model/trace/opcode.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::tests {

/// Warp instructions by kind.
struct Counted {
  trace::OpcodeCounts opcodes;

  /// Of the opcodes whose names start with `prefix`.
  double of(std::string_view prefix) const {
    double sum = 0;
    for (const auto& [opcode, count] : opcodes) {
      sum += trace::info(opcode).name.starts_with(prefix) ? static_cast<double>(count) : 0;
    }
    return sum;
  }
  double of(trace::Pipe pipe) const {
    double sum = 0;
    for (const auto& [opcode, count] : opcodes) {
      sum += trace::info(opcode).pipe == pipe ? static_cast<double>(count) : 0;
    }
    return sum;
  }
};

}  // namespace warpscope::tests
