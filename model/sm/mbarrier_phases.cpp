#include "model/sm/mbarrier_phases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "model/sm/sm_state.hpp"

namespace warpscope::sm {

MbarrierPhases::MbarrierPhases(const std::vector<trace::MbarrierRing>& rings, std::uint32_t warps)
    : rings_(rings), phases_(rings.size()), arrivals_(warps * rings.size()), waits_(warps * rings.size()) {
  for (std::size_t ring = 0; ring < rings_.size(); ++ring) {
    phases_[ring].resize(rings_[ring].slots);
  }
}

void MbarrierPhases::reset() {
  for (std::size_t ring = 0; ring < rings_.size(); ++ring) {
    for (std::uint32_t slot = 0; slot < rings_[ring].slots; ++slot) {
      phases_[ring][slot] = {slot, rings_[ring].arrivals, rings_[ring].bytes, 0};
    }
  }
  std::ranges::fill(arrivals_, 0);
  std::ranges::fill(waits_, 0);
}

MbarrierPhases::Phase& MbarrierPhases::at(std::uint32_t ring, std::uint32_t number) {
  const trace::MbarrierRing& description = rings_[ring];
  Phase& phase = phases_[ring][number % description.slots];
  if (phase.number < number) {
    if (!phase.is_complete()) {
      throw std::invalid_argument(fmt::format(
          "ring {} of mbarriers: phase {} begins while phase {} on the same mbarrier is not complete", ring,
          number, phase.number));
    }
    phase = {number, description.arrivals, description.bytes, 0};
  }
  return phase;
}

bool MbarrierPhases::arrive(std::uint32_t warp, std::uint32_t ring, std::int32_t time) {
  const std::uint32_t number = arrivals_[index(warp, ring)]++;
  Phase& phase = at(ring, number);
  if (phase.number != number || phase.arrivals == 0) {
    throw std::invalid_argument(fmt::format("ring {} of mbarriers: more than {} arrivals at phase {}", ring,
                                            rings_[ring].arrivals, number));
  }
  --phase.arrivals;
  phase.time = std::max(phase.time, time);
  return phase.is_complete();
}

std::uint32_t MbarrierPhases::phase_of_copies(std::uint32_t warp, std::uint32_t ring) const {
  const std::uint32_t arrivals = arrivals_[index(warp, ring)];
  if (arrivals == 0) {
    throw std::invalid_argument(
        fmt::format("ring {} of mbarriers: warp {} copies before it has arrived", ring, warp));
  }
  return arrivals - 1;
}

bool MbarrierPhases::move_bytes(std::uint32_t ring, std::uint32_t phase, std::uint32_t bytes,
                                std::int32_t time) {
  Phase& current = at(ring, phase);
  current.bytes -= bytes;
  current.time = std::max(current.time, time);
  return current.is_complete();
}

std::int32_t MbarrierPhases::ready(std::uint32_t warp, std::uint32_t ring) const {
  const trace::MbarrierRing& description = rings_[ring];
  const std::uint32_t wait = waits_[index(warp, ring)];
  if (description.starts_open && wait < description.slots) {
    return 0;
  }
  const std::uint32_t number = wait - (description.starts_open ? description.slots : 0);
  const Phase& phase = phases_[ring][number % description.slots];
  if (phase.number != number) {
    return phase.number > number ? 0 : kNever;
  }
  return phase.is_complete() ? phase.time : kNever;
}

void MbarrierPhases::rebase(std::int32_t origin) {
  for (std::vector<Phase>& ring : phases_) {
    for (Phase& phase : ring) {
      phase.time = std::max(0, phase.time - origin);
    }
  }
}

}  // namespace warpscope::sm
