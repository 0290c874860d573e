// Times of SmCore have 32 bits: how they come to count from a later origin.
#include <algorithm>
#include <cstdint>

#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {
namespace {

/// How far in the past a time may stay; what lies before it is as long ago.
constexpr std::int32_t kLongAgo = -(1 << 28);

/// Moves a time to a new origin; what lies in the past counts as now.
void shift(std::int32_t& time, std::int32_t origin) {
  if (time != kNever) {
    time = std::max(0, time - origin);
  }
}

/// The same, but what lies in the past stays there: which warp comes first hangs on what it has waited for.
void shift_back(std::int32_t& time, std::int32_t origin) {
  if (time != kNever) {
    time = std::max(kLongAgo, time - origin);
  }
}

}  // namespace

void SmCore::move_origin(std::int32_t origin) {
  finish_accounting(origin);
  rebase(origin);
  for (LoopHead& head : loop_heads_) {
    head.time = std::max(kLongAgo, head.time - origin);
  }
  arrivals_.rebase(origin);
  stores_.rebase(origin);
  reductions_.rebase(origin);
  for (std::size_t s = 0; s < kMaxSubCores; ++s) {
    histories_[s].end -= origin;
    update_service(state_.sub_cores[s]);
  }
}

void SmCore::rebase(std::int32_t origin) {
  shift(state_.lsu_free, origin);
  shift(state_.request_free, origin);
  shift(state_.fill_free, origin);
  shift(state_.far_fill_free, origin);
  if (state_.constants_come > 0) {
    shift(state_.constants_come, origin);
    std::ranges::for_each(state_.loaded_constants, [&](std::int32_t& time) { shift(time, origin); });
    std::ranges::for_each(state_.operand_constants, [&](std::int32_t& time) { shift(time, origin); });
  }
  const auto shift_arrival = [&](std::int32_t& time) { shift(time, origin); };
  near_lines_.for_each_arrival(shift_arrival);
  far_lines_.for_each_arrival(shift_arrival);
  for (SubCoreState& sub_core : state_.sub_cores) {
    shift_back(sub_core.issue_free, origin);
    shift(sub_core.next_time, origin);
    sub_core.ports.rebase(origin);
    shift(sub_core.xu_free, origin);
    for (std::int32_t& time : sub_core.pipe_free) {
      shift_back(time, origin);
    }
    for (std::int32_t& time : sub_core.own) {
      shift_back(time, origin);
    }
    for (std::int32_t& time : sub_core.issued_at) {
      shift_back(time, origin);
    }
    // Who has waited longest at the data path is served first, so these times stay in the past.
    sub_core.mio_free -= sub_core.mio_free == kNever ? 0 : origin;
    sub_core.waits_since -= sub_core.waits_for_room ? origin : 0;
    for (int i = 0; i < sub_core.queue_count; ++i) {
      sub_core.queue[at(i)].enqueued -= origin;
    }
    if (sub_core.queue_count == 0) {
      sub_core.mio_free = std::max(0, sub_core.mio_free);
    }
  }
  for (int i = 0; i < cta_slots_; ++i) {
    shift(state_.ctas[at(i)].barrier_free, origin);
  }
  for (int i = 0; i < warp_slots(); ++i) {
    WarpState& warp = state_.warps[at(i)];
    if (warp.status == WarpStatus::empty) {
      continue;
    }
    shift(warp.ready, origin);
    shift(warp.attributed, origin);
    shift(warp.open_group, origin);
    shift(warp.fetch_ready, origin);
    for (std::int32_t& time : warp.scoreboard) {
      shift(time, origin);
    }
    for (std::int32_t& time : warp.group) {
      shift(time, origin);
    }
    while (warp.groups > 0 && warp.group[0] == 0 && warp.group_copies[0] == 0) {
      std::shift_left(warp.group.begin(), warp.group.end(), 1);
      std::shift_left(warp.group_copies.begin(), warp.group_copies.end(), 1);
      --warp.groups;
      warp.group[warp.groups] = warp.group_copies[warp.groups] = 0;
    }
  }
  async_.rebase(origin);
  for (RegisterState& state : registers_) {
    shift(state.ready, origin);
    state.is_long = state.ready > 0 ? state.is_long : 0;
  }
}

}  // namespace warpscope::sm
