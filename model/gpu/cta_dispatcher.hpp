// Which CTA runs next, where, and from when on.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/gpu/sm_group.hpp"
#include "model/hw/hw_config.hpp"
#include "model/sim/event_queue.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::gpu {

/// CTAs on their way to the SMs of a group, one for each of its first SMs.
struct Dispatch {
  int group = 0;
  std::vector<std::uint64_t> ctas;  ///< numbers in the grid, x fastest
  sim::Cycles start = 0;
  std::int32_t apart_cycles = 0;  ///< on a chip CTAs start so far apart, in the mean
};

/// Hands out CTAs in blockIdx order, x fastest, at a limited rate, to the group with the most free slots (the
/// lowest index among equals). A group takes a CTA for each of its SMs at a time. A grid that the chip holds
/// at once goes in equal numbers to all TPCs, to the first SM of each rather than to the second
/// (cta_placement.csv).
class CtaDispatcher {
 public:
  CtaDispatcher(const hw::HwConfig& config, const trace::Launch& launch, double sm_clock_mhz, int ctas_per_sm,
                const std::vector<SmGroup>& groups);

  /// The next CTAs, if there are any and some group has a free slot. `earliest` is when the slot is ready.
  std::optional<Dispatch> next(sim::Cycles earliest);
  /// A slot of `group` is free again.
  void release(int group);
  /// Leaves out the next `ctas` CTAs.
  void skip(std::uint64_t ctas) {
    dispatched_ += ctas;
    skipped_ += ctas;
  }
  std::uint64_t dispatched() const { return dispatched_; }
  bool done() const { return dispatched_ == cta_count_; }
  /// SMs that hold at least one CTA.
  int active_sms() const { return active_sms_; }

 private:
  struct GroupState {
    int sms = 1;
    int most = 0;  ///< CTAs at a time
    int free_slots = 0;
    int active = 0;  ///< SMs with work
  };
  /// How much later than the earliest a CTA starts: evenly spread, by a hash of its number.
  sim::Cycles spread_of(std::uint64_t cta) const;
  /// Limits SMs to their share of a grid that the chip holds at once.
  void share_evenly();
  /// The group to serve next, taken out of its heap; -1 if there is none.
  int take_group();

  std::uint64_t cta_count_;
  std::uint64_t dispatched_ = 0;
  std::uint64_t skipped_ = 0;    ///< of these
  std::uint64_t first_wave_;     ///< CTAs that find the chip empty
  std::int64_t interval_;        ///< between two CTAs, in 1/kDispatchUnits cycles
  std::int64_t burst_interval_;  ///< while the first wave fills the chip
  std::int64_t next_slot_ = 0;   ///< of the dispatcher, same unit
  int turnaround_spread_;
  int ctas_per_sm_;
  std::uint64_t first_tpcs_;  ///< hw::LaunchCosts
  int active_sms_ = 0;
  std::vector<GroupState> groups_;
  /// Min-heaps of group indices by number of free slots, lazily cleaned.
  std::vector<std::vector<int>> groups_by_free_;
};

}  // namespace warpscope::gpu
