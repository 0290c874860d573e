// Where the cycles of resident warps went. Every instruction comes by here, so these are inline. That others
// cost a warp cycles is rare enough for a branch; how long it waited for what is hard to predict, so that is
// without.
#pragma once

#include <algorithm>
#include <array>

#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {

inline Reason SmCore::throttle(const SubCoreState& sub_core, std::uint8_t pipe, std::int32_t since) {
  constexpr Reason kOthers = reason(metrics::Stall::not_selected);
  constexpr Reason kMath = reason(metrics::Stall::math_pipe_throttle);
  constexpr Reason kQueue = reason(metrics::Stall::mio_throttle);
  // By PipeSlot, where the pipe is free and where it is taken.
  static constexpr std::array<std::array<Reason, kPipes>, 2> kReasons = {
      {{kOthers, kOthers, kOthers, kOthers, kOthers, kOthers},
       {kMath, kMath, kMath, kQueue, kQueue, kOthers}}};
  return kReasons[std::size_t{sub_core.pipe_free[pipe] > since}][pipe];
}

inline void SmCore::account_ready(const SubCoreState& sub_core, int local, const WaitEnds& ends,
                                  const IssueHistory& history) {
  const std::int32_t window = ends.until - ends.own;
  // Nothing is in the history from its end on, and it goes back only so far.
  const std::int32_t known = std::min(window, IssueHistory::kCycles) - (ends.until - history.end);
  const std::int32_t others = history.issued_in(std::max(known, 0));
  const std::int32_t held = history.held_in(std::max(known, 0));
  const Reason rest = throttle(sub_core, sub_core.pipe[at(local)], ends.own);
  counters_.stall_warp_cycles[reason(metrics::Stall::not_selected)] += static_cast<std::uint64_t>(others);
  counters_.stall_warp_cycles[reason(metrics::Stall::dispatch_stall)] += static_cast<std::uint64_t>(held);
  counters_.stall_warp_cycles[rest] += static_cast<std::uint64_t>(window - others - held);
}

inline void SmCore::account_stalls(const SubCoreState& sub_core, int local, const WarpState& warp,
                                   const WaitEnds& ends, const IssueHistory& history) {
  counters_.stall_warp_cycles[warp.ready_reason] += static_cast<std::uint64_t>(ends.ready - warp.attributed);
  counters_.stall_warp_cycles[warp.own_reason] += static_cast<std::uint64_t>(ends.own - ends.ready);
  if (ends.own < ends.until) {
    account_ready(sub_core, local, ends, history);
  }
}

}  // namespace warpscope::sm
