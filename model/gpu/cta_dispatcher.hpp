// Which CTA runs next, where, and from when on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/hw/hw_config.hpp"
#include "model/sim/event_queue.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::gpu {

/// A CTA on its way to an SM.
struct Dispatch {
  int sm = 0;
  std::array<std::uint32_t, 3> block{};
  sim::Cycles start = 0;
};

/// Hands out CTAs in blockIdx order, x fastest, at a limited rate, each to the SM with the most free slots
/// (the lowest index among equals).
class CtaDispatcher {
 public:
  CtaDispatcher(const hw::HwConfig& config, const trace::Launch& launch, double sm_clock_mhz,
                int ctas_per_sm);

  /// The next CTA, if there is one and some SM has a free slot. `earliest` is when the slot is ready for it.
  std::optional<Dispatch> next(sim::Cycles earliest);
  /// A CTA of `sm` has ended.
  void release(int sm);
  /// Leaves out the next `ctas` CTAs.
  void skip(std::uint64_t ctas) { next_cta_ += ctas; }
  std::uint64_t dispatched() const { return next_cta_; }
  bool done() const { return next_cta_ == cta_count_; }
  /// SMs that hold at least one CTA.
  int active_sms() const { return active_sms_; }

 private:
  /// How much later than the earliest a CTA starts: evenly spread, by a hash of its number.
  sim::Cycles spread_of(std::uint64_t cta) const;

  std::array<std::uint32_t, 3> grid_;
  std::uint64_t cta_count_;
  std::uint64_t next_cta_ = 0;
  std::int64_t interval_;        ///< between two CTAs, in 1/kDispatchUnits cycles
  std::int64_t burst_interval_;  ///< while the first wave fills the chip
  std::int64_t next_slot_;       ///< of the dispatcher, same unit
  int turnaround_spread_;
  int ctas_per_sm_;
  int active_sms_ = 0;
  std::vector<int> free_slots_;  ///< by SM
  std::vector<std::vector<int>>
      sms_by_free_;  ///< min-heaps of SM indices by number of free slots, lazily cleaned
};

}  // namespace warpscope::gpu
