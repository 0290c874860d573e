// Where a warp is in its loops, and what follows from that.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "model/sm/decoded_launch.hpp"

namespace warpscope::sm {

/// Position of a warp in its loops.
struct LoopCounters {
  std::array<std::uint32_t, trace::kMaxLoopDepth> iteration{};
  std::array<std::uint32_t, trace::kMaxLoopDepth> trips{};

  bool operator==(const LoopCounters&) const = default;
};

/// Trips of a loop on entry, where the loops around it have come to these iterations.
inline std::uint32_t trips_of(const DecodedLoop& loop, const trace::CtaClass& cta_class,
                              const LoopCounters& counters) {
  std::int64_t trips = cta_class.trip_counts[loop.trip_slot];
  for (std::size_t k = 0; k < loop.depth; ++k) {
    trips += std::int64_t{loop.trips_per_iteration[k]} * counters.iteration[k];
  }
  return static_cast<std::uint32_t>(std::max<std::int64_t>(0, trips));
}

/// How far the table of an index moves it from the table's first entry.
inline std::int64_t table_step(const trace::AffineIndex& index, const trace::CtaClass& cta_class,
                               const LoopCounters& counters) {
  const auto first = static_cast<std::size_t>(index.symbol);
  return index.per_symbol * (cta_class.symbols[first + counters.iteration[0]] - cta_class.symbols[first]);
}

/// How far the iterations move an index, but for what a table adds.
inline std::int64_t moved_by(const trace::AffineIndex& index, const LoopCounters& counters) {
  std::int64_t distance = 0;
  for (std::size_t d = 0; d < trace::kMaxLoopDepth; ++d) {
    distance += index.per_iteration[d] * counters.iteration[d];
  }
  return distance;
}

}  // namespace warpscope::sm
