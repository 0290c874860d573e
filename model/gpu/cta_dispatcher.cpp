#include "model/gpu/cta_dispatcher.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "model/base/spread_hash.hpp"
#include "model/hw/tpc.hpp"
#include "model/sm/turnaround.hpp"

namespace warpscope::gpu {
namespace {

constexpr std::int64_t kDispatchUnits = 1024;

}  // namespace

CtaDispatcher::CtaDispatcher(const hw::HwConfig& config, const trace::Launch& launch, double sm_clock_mhz,
                             int ctas_per_sm, const std::vector<SmGroup>& groups)
    : cta_count_(trace::cta_count(launch)),
      first_wave_(0),
      interval_(
          std::llround(sm_clock_mhz / 1e3 / config.launch.cta_per_ns * static_cast<double>(kDispatchUnits))),
      burst_interval_(std::llround(static_cast<double>(kDispatchUnits) / config.launch.burst_cta_per_clk)),
      turnaround_spread_(sm::turnaround(config.sm.issue).spread_cycles),
      ctas_per_sm_(ctas_per_sm),
      first_tpcs_(static_cast<std::uint64_t>(config.launch.first_tpcs)),
      groups_by_free_(static_cast<std::size_t>(ctas_per_sm) + 1) {
  for (const SmGroup& group : groups) {
    groups_by_free_.back().push_back(static_cast<int>(groups_.size()));
    groups_.push_back({group.sms, ctas_per_sm, ctas_per_sm, 0});
    first_wave_ += static_cast<std::uint64_t>(group.sms) * static_cast<std::uint64_t>(ctas_per_sm);
  }
  std::ranges::make_heap(groups_by_free_.back(), std::greater<>{});
  const bool alone = std::ranges::all_of(groups_, [](const GroupState& group) { return group.sms == 1; });
  if (alone && cta_count_ <= first_wave_ && groups_.size() % hw::kSmsPerTpc == 0) {
    share_evenly();
  }
}

void CtaDispatcher::share_evenly() {
  // Of what is left over when all SMs have the same, the first TPCs get two each, the others one before any
  // gets two (cta_placement.md).
  const std::uint64_t sms = groups_.size();
  const std::uint64_t tpcs = sms / hw::kSmsPerTpc;
  const std::uint64_t first_sms = std::min(first_tpcs_, tpcs) * hw::kSmsPerTpc;
  const std::uint64_t more = cta_count_ % sms;
  const std::uint64_t others = more - std::min(more, first_sms);
  const std::uint64_t other_tpcs = std::max<std::uint64_t>(1, tpcs - first_sms / hw::kSmsPerTpc);
  std::vector<int>& empty = groups_by_free_.back();
  empty.clear();
  for (std::uint64_t i = 0; i < sms; ++i) {
    std::uint64_t one_more = i < more ? 1 : 0;
    if (i >= first_sms) {
      // TPCs that get one more are found in all parts of the chip.
      const std::uint64_t tpc = (i - first_sms) / hw::kSmsPerTpc;
      const auto up_to = [&](std::uint64_t end) { return (end * others + other_tpcs - 1) / other_tpcs; };
      one_more = (up_to(tpc + 1) - up_to(tpc) + (i + 1) % hw::kSmsPerTpc) / hw::kSmsPerTpc;
    }
    groups_[i].most = static_cast<int>(cta_count_ / sms + one_more);
    if (groups_[i].most > 0) {
      empty.push_back(static_cast<int>(i));
    }
  }
}

int CtaDispatcher::take_group() {
  for (std::size_t free = groups_by_free_.size() - 1; free > 0; --free) {
    std::vector<int>& heap = groups_by_free_[free];
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, std::greater<>{});
      const int group = heap.back();
      heap.pop_back();
      // Others were filed before their count changed.
      if (groups_[static_cast<std::size_t>(group)].free_slots == static_cast<int>(free)) {
        return group;
      }
    }
  }
  return -1;
}

std::optional<Dispatch> CtaDispatcher::next(sim::Cycles earliest) {
  const int index = done() ? -1 : take_group();
  if (index < 0) {
    return std::nullopt;
  }
  GroupState& group = groups_[static_cast<std::size_t>(index)];
  Dispatch dispatch;
  dispatch.group = index;
  const std::uint64_t end = std::min(cta_count_, dispatched_ + static_cast<std::uint64_t>(group.sms));
  for (std::uint64_t cta = dispatched_; cta < end; ++cta) {
    dispatch.ctas.push_back(cta);
  }
  const auto ctas = static_cast<int>(dispatch.ctas.size());
  if (ctas > group.active) {
    active_sms_ += ctas - group.active;
    group.active = ctas;
  }
  if (ctas_per_sm_ - --group.free_slots < group.most) {
    std::vector<int>& fewer = groups_by_free_[static_cast<std::size_t>(group.free_slots)];
    fewer.push_back(index);
    std::ranges::push_heap(fewer, std::greater<>{});
  }

  const bool first_wave = dispatched_ < first_wave_;
  const std::int64_t interval = first_wave ? burst_interval_ : interval_;
  const std::int64_t first_slot = std::max(next_slot_ + interval, earliest * kDispatchUnits);
  next_slot_ = first_slot + interval * (ctas - 1);
  // The one in the middle stands for all.
  dispatch.start =
      (first_slot + interval * ((ctas - 1) / 2)) / kDispatchUnits + (first_wave ? 0 : spread_of(dispatched_));
  const std::int64_t apart =
      first_wave ? interval : first_slot / static_cast<std::int64_t>(dispatched_ - skipped_);
  dispatch.apart_cycles = static_cast<std::int32_t>(
      std::min<std::int64_t>(apart / kDispatchUnits, std::numeric_limits<std::int32_t>::max()));
  dispatched_ += static_cast<std::uint64_t>(ctas);
  return dispatch;
}

sim::Cycles CtaDispatcher::spread_of(std::uint64_t cta) const {
  return static_cast<sim::Cycles>(spread_hash(cta) % static_cast<std::uint64_t>(turnaround_spread_ + 1));
}

void CtaDispatcher::release(int index) {
  GroupState& group = groups_[static_cast<std::size_t>(index)];
  if (++group.free_slots == ctas_per_sm_) {
    active_sms_ -= group.active;
    group.active = 0;
  }
  std::vector<int>& heap = groups_by_free_[static_cast<std::size_t>(group.free_slots)];
  heap.push_back(index);
  std::ranges::push_heap(heap, std::greater<>{});
}

}  // namespace warpscope::gpu
