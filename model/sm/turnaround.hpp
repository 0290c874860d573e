// When the successor of a CTA in its slot starts.
#pragma once

#include <algorithm>

#include "model/hw/hw_config.hpp"

namespace warpscope::sm {

/// Cycles from the end of a CTA to the first instruction of its successor: evenly spread from `shortest` to
/// `shortest + spread`.
struct Turnaround {
  int shortest_cycles = 1;
  int spread_cycles = 0;
};

/// A successor starts behind the last instruction of the CTA whose slot it takes, so short turnarounds have a
/// narrower distribution than `issue` says.
inline Turnaround turnaround(const hw::Issue& issue) {
  const int mean = std::max(1, issue.cta_turnaround_cycles);
  const int spread = std::min(issue.cta_turnaround_spread_cycles, 2 * mean - 1);
  return {mean - spread / 2, spread};
}

}  // namespace warpscope::sm
