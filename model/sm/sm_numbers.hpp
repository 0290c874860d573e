// Indices, reasons and times as the code of SmCore writes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "model/metrics/result.hpp"
#include "model/sm/sm_state.hpp"

namespace warpscope::sm {

constexpr Reason reason(metrics::Stall stall) {
  return static_cast<Reason>(stall);
}
/// Index of a warp, slot or sub-core.
constexpr std::size_t at(int index) {
  return static_cast<std::size_t>(index);
}

/// `time` as a time of the SM, which has 32 bits. Throws std::invalid_argument where something would wait
/// longer than they hold.
inline std::int32_t within_reach(std::int64_t time) {
  constexpr std::int64_t kLongestWait = std::int64_t{1} << 29;
  if (time > kLongestWait) {
    throw std::invalid_argument("a warp or a port waits more than 2^29 cycles for the memory");
  }
  return static_cast<std::int32_t>(time);
}

}  // namespace warpscope::sm
