#include "model/gpu/cta_dispatcher.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace warpscope::gpu {
namespace {

constexpr std::int64_t kDispatchUnits = 1024;

}  // namespace

CtaDispatcher::CtaDispatcher(const hw::HwConfig& config, const trace::Launch& launch, double sm_clock_mhz,
                             int ctas_per_sm)
    : grid_(launch.grid),
      cta_count_(trace::cta_count(launch)),
      interval_(
          std::llround(sm_clock_mhz / 1e3 / config.launch.cta_per_ns * static_cast<double>(kDispatchUnits))),
      burst_interval_(std::llround(static_cast<double>(kDispatchUnits) / config.launch.burst_cta_per_clk)),
      next_slot_(0),
      turnaround_spread_(config.sm.issue.cta_turnaround_spread_cycles),
      ctas_per_sm_(ctas_per_sm),
      free_slots_(static_cast<std::size_t>(config.gpu.sm_count), ctas_per_sm),
      sms_by_free_(static_cast<std::size_t>(ctas_per_sm) + 1) {
  for (int sm = 0; sm < config.gpu.sm_count; ++sm) {
    sms_by_free_[static_cast<std::size_t>(ctas_per_sm)].push_back(sm);
  }
  std::ranges::make_heap(sms_by_free_.back(), std::greater<>{});
}

std::optional<Dispatch> CtaDispatcher::next(sim::Cycles earliest) {
  if (done()) {
    return std::nullopt;
  }
  for (std::size_t free = sms_by_free_.size() - 1; free > 0; --free) {
    std::vector<int>& heap = sms_by_free_[free];
    while (!heap.empty()) {
      std::ranges::pop_heap(heap, std::greater<>{});
      const int sm = heap.back();
      heap.pop_back();
      int& slots = free_slots_[static_cast<std::size_t>(sm)];
      if (slots != static_cast<int>(free)) {
        continue;  // filed before its count changed
      }
      active_sms_ += slots == ctas_per_sm_ ? 1 : 0;
      --slots;
      std::vector<int>& fewer = sms_by_free_[free - 1];
      fewer.push_back(sm);
      std::ranges::push_heap(fewer, std::greater<>{});
      const bool first_wave = next_cta_ < free_slots_.size() * static_cast<std::size_t>(ctas_per_sm_);
      next_slot_ =
          std::max(next_slot_ + (first_wave ? burst_interval_ : interval_), earliest * kDispatchUnits);
      Dispatch dispatch;
      dispatch.sm = sm;
      dispatch.start = next_slot_ / kDispatchUnits + (first_wave ? 0 : spread_of(next_cta_));
      dispatch.block[0] = static_cast<std::uint32_t>(next_cta_ % grid_[0]);
      dispatch.block[1] = static_cast<std::uint32_t>(next_cta_ / grid_[0] % grid_[1]);
      dispatch.block[2] = static_cast<std::uint32_t>(next_cta_ / grid_[0] / grid_[1]);
      ++next_cta_;
      return dispatch;
    }
  }
  return std::nullopt;
}

sim::Cycles CtaDispatcher::spread_of(std::uint64_t cta) const {
  const std::uint64_t hash = (cta * 0x9e3779b97f4a7c15ULL) >> 32;
  return static_cast<sim::Cycles>(hash % static_cast<std::uint64_t>(turnaround_spread_ + 1));
}

void CtaDispatcher::release(int sm) {
  int& slots = free_slots_[static_cast<std::size_t>(sm)];
  ++slots;
  active_sms_ -= slots == ctas_per_sm_ ? 1 : 0;
  std::vector<int>& heap = sms_by_free_[static_cast<std::size_t>(slots)];
  heap.push_back(sm);
  std::ranges::push_heap(heap, std::greater<>{});
}

}  // namespace warpscope::gpu
