// How long hits in the L2 take: slices are near to an SM or far from it.
#pragma once

#include <array>
#include <cstdint>

#include "model/hw/hw_config.hpp"
#include "model/memory/piece.hpp"

namespace warpscope::memory {

/// Hits of single lines take `l2.hit_latency_cycles` on average, and any time up to `l2.hit_spread_cycles`
/// more or less alike, by where the line lies and who asks. A piece is answered with its last line: of n
/// lines, that of quantile q is at q^(1/n) of the whole width.
class HitLatency {
 public:
  HitLatency() = default;
  explicit HitLatency(const hw::L2& l2);

  /// In units of 1/kQueueUnits SM cycles. Of writes, which nobody waits for, it is the mean.
  std::int64_t units(const Piece& piece) const;

 private:
  static constexpr std::size_t kMostLines = 16;  ///< in a piece; more are as late
  static constexpr std::size_t kQuantiles = 64;

  std::int64_t mean_units_ = 0;
  std::array<std::array<std::int64_t, kQuantiles>, kMostLines> read_units_{};  ///< by lines, less one
};

/// The shortest time in which the L2 answers.
std::int64_t least_hit_cycles(const hw::L2& l2);

}  // namespace warpscope::memory
