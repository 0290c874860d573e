// The stretch of time in which SMs run alone.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "model/hw/hw_config.hpp"
#include "model/sm/turnaround.hpp"

namespace warpscope::engine {

/// Requests of one window of this length still fit the counters of what is in flight.
inline constexpr std::int64_t kLongestWindowCycles = 256;

/// The longest power of two that is no longer than the least time in which an SM can influence itself or
/// another: by way of the memory, or by a CTA that ends and the one that follows it. All windows of `divisor`
/// times less end where these do, too.
inline std::int64_t window_cycles(const hw::HwConfig& config, std::int64_t least_latency_cycles,
                                  int divisor = 1) {
  const std::int64_t least = std::min({least_latency_cycles, kLongestWindowCycles,
                                       std::int64_t{sm::turnaround(config.sm.issue).shortest_cycles}});
  const auto longest = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(least)));
  return std::max<std::int64_t>(1, longest / divisor);
}

}  // namespace warpscope::engine
