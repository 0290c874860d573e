// The mbarriers of one CTA: which phases are complete, and since when.
#pragma once

#include <cstdint>
#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::sm {

/// Rings of mbarriers (trace::MbarrierRing). Times are the SM's.
class MbarrierPhases {
 public:
  MbarrierPhases(const std::vector<trace::MbarrierRing>& rings, std::uint32_t warps);

  /// A new CTA: no phase has begun.
  void reset();
  /// A warp arrives at its next phase, which counts it at `time`. Throws std::invalid_argument where the
  /// phase before on the same mbarrier is not complete: on hardware it would count for that one. Returns
  /// whether the phase is complete now.
  bool arrive(std::uint32_t warp, std::uint32_t ring, std::int32_t time);
  /// The phase of the warp's last arrival, for which its copies count. Throws std::invalid_argument where it
  /// has not arrived yet.
  std::uint32_t phase_of_copies(std::uint32_t warp, std::uint32_t ring) const;
  /// Copies have moved so many bytes for a phase. Returns whether it is complete now.
  bool move_bytes(std::uint32_t ring, std::uint32_t phase, std::uint32_t bytes, std::int32_t time);
  /// When the phase that the warp waits for next is complete; kNever where that is not known yet.
  std::int32_t ready(std::uint32_t warp, std::uint32_t ring) const;
  /// The warp has waited for it.
  void pass(std::uint32_t warp, std::uint32_t ring) { ++waits_[index(warp, ring)]; }
  void rebase(std::int32_t origin);

 private:
  /// The phase that an mbarrier is in.
  struct Phase {
    std::uint32_t number = 0;
    std::uint32_t arrivals = 0;  ///< that it still waits for
    std::int64_t bytes = 0;      ///< likewise; below zero where more have come
    std::int32_t time = 0;       ///< of the last that has come
    bool is_complete() const { return arrivals == 0 && bytes == 0; }
  };
  std::size_t index(std::uint32_t warp, std::uint32_t ring) const { return warp * rings_.size() + ring; }
  Phase& at(std::uint32_t ring, std::uint32_t number);

  std::vector<trace::MbarrierRing> rings_;
  std::vector<std::vector<Phase>> phases_;  ///< [ring][slot]
  std::vector<std::uint32_t> arrivals_;     ///< [warp][ring]
  std::vector<std::uint32_t> waits_;        ///< [warp][ring]
};

}  // namespace warpscope::sm
