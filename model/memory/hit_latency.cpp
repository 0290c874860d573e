#include "model/memory/hit_latency.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/spread_hash.hpp"
#include "model/memory/block_cache.hpp"
#include "model/memory/server.hpp"

namespace warpscope::memory {

HitLatency::HitLatency(const hw::L2& l2) : mean_units_(l2.hit_latency_cycles * kQueueUnits) {
  const std::int64_t least = least_hit_cycles(l2) * kQueueUnits;
  const auto width = static_cast<double>(2 * (mean_units_ - least));
  for (std::size_t lines = 1; lines <= kMostLines; ++lines) {
    for (std::size_t i = 0; i < kQuantiles; ++i) {
      const double quantile = (static_cast<double>(i) + 0.5) / static_cast<double>(kQuantiles);
      const double of_last_line = std::pow(quantile, 1.0 / static_cast<double>(lines));
      read_units_[lines - 1][i] = least + std::llround(of_last_line * width);
    }
  }
}

std::int64_t HitLatency::units(const Piece& piece) const {
  if (piece.kind != AccessKind::read) {
    return mean_units_;
  }
  const std::size_t lines = std::clamp<std::size_t>(piece.lines, 1, kMostLines);
  const std::uint64_t place = piece.key * kSectorsPerBlock + piece.first_sector;
  return read_units_[lines - 1][spread_hash(spread_hash(place + 1) + piece.sm) % kQuantiles];
}

std::int64_t least_hit_cycles(const hw::L2& l2) {
  return std::max(1, l2.hit_latency_cycles - l2.hit_spread_cycles);
}

}  // namespace warpscope::memory
