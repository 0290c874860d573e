// How long a launch may take.
#pragma once

#include <fmt/format.h>

#include <stdexcept>

#include "model/trace/launch.hpp"

namespace warpscope::gpu {

/// 2^40, a quarter of an hour of a GPU: sums of cycles over all warps of the largest chip fit 64 bits.
inline constexpr double kMostCycles = 1099511627776;

/// Throws std::invalid_argument if a launch that has come to `cycles` takes too long.
inline void require_time(const trace::Launch& launch, double cycles) {
  if (cycles > kMostCycles) {
    throw std::invalid_argument(
        fmt::format("launch '{}' takes more than 2^40 cycles, the longest that is simulated", launch.name));
  }
}

}  // namespace warpscope::gpu
