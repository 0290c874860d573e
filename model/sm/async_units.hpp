// Units of an SM that work beside its warps: products of warpgroups, and mbarriers with the copies they
// count.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "model/sm/decoded_launch.hpp"
#include "model/sm/mbarrier_phases.hpp"
#include "model/trace/trace_limits.hpp"

namespace warpscope::sm {

/// The products of one warp. They end in the order in which they were issued.
class WgmmaGroups {
 public:
  /// A product ends at `time`, the last of its group if so said.
  void add(std::int32_t time, bool closes_group) {
    if (closes_group) {
      std::shift_right(ends_.begin(), ends_.end(), 1);
      ends_[0] = time;
    }
  }
  /// When no more than `pending` groups are unfinished.
  std::int32_t done(int pending) const { return ends_[static_cast<std::size_t>(pending)]; }
  void rebase(std::int32_t origin) {
    std::ranges::transform(ends_, ends_.begin(), [=](std::int32_t end) { return std::max(0, end - origin); });
  }

 private:
  std::array<std::int32_t, trace::kMostPendingGroups + 1> ends_{};  ///< of the groups, youngest first
};

/// Those of all warps and CTA slots of an SM.
class AsyncUnits {
 public:
  AsyncUnits(const DecodedLaunch& launch, int cta_slots) : warps_per_cta_(launch.warps_per_cta) {
    if (launch.is_asynchronous) {
      const auto slots = static_cast<std::size_t>(cta_slots);
      products_.resize(slots * warps_per_cta_);
      phases_.assign(slots, MbarrierPhases(launch.mbarriers, warps_per_cta_));
    }
  }

  WgmmaGroups& products(int warp) { return products_[static_cast<std::size_t>(warp)]; }
  const WgmmaGroups& products(int warp) const { return products_[static_cast<std::size_t>(warp)]; }
  MbarrierPhases& phases(int slot) { return phases_[static_cast<std::size_t>(slot)]; }
  const MbarrierPhases& phases(int slot) const { return phases_[static_cast<std::size_t>(slot)]; }

  void begin_cta(int slot) {
    phases(slot).reset();
    std::fill_n(products_.begin() + static_cast<std::ptrdiff_t>(slot) * warps_per_cta_, warps_per_cta_,
                WgmmaGroups{});
  }
  void rebase(std::int32_t origin) {
    std::ranges::for_each(products_, [=](WgmmaGroups& groups) { groups.rebase(origin); });
    std::ranges::for_each(phases_, [=](MbarrierPhases& phases) { phases.rebase(origin); });
  }

 private:
  std::uint32_t warps_per_cta_;
  std::vector<WgmmaGroups> products_;   ///< by warp
  std::vector<MbarrierPhases> phases_;  ///< by CTA slot
};

}  // namespace warpscope::sm
