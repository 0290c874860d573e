// Where the cycles of resident warps went. Every instruction comes by here, so these are inline; and how long
// a warp waited for what is hard to predict, so there are no branches.
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

inline void SmCore::account_stalls(const SubCoreState& sub_core, int local, const WarpState& warp,
                                   const IssueHistory& history) {
  const std::int32_t until = history.end;
  const std::int32_t ready = std::max(warp.attributed, std::min(warp.ready, until));
  const std::int32_t own = std::max(ready, std::min(sub_core.own[at(local)], until));
  counters_.stall_warp_cycles[warp.ready_reason] += static_cast<std::uint64_t>(ready - warp.attributed);
  counters_.stall_warp_cycles[warp.own_reason] += static_cast<std::uint64_t>(own - ready);
  // From then on others issued, the dispatch port was held, or its pipe was taken.
  const std::int32_t window = until - own;
  const std::int32_t others = history.issued_in(window);
  const std::int32_t held = history.held_in(window);
  const Reason rest = throttle(sub_core, sub_core.pipe[at(local)], own);
  counters_.stall_warp_cycles[reason(metrics::Stall::not_selected)] += static_cast<std::uint64_t>(others);
  counters_.stall_warp_cycles[reason(metrics::Stall::dispatch_stall)] += static_cast<std::uint64_t>(held);
  counters_.stall_warp_cycles[rest] += static_cast<std::uint64_t>(window - others - held);
}

}  // namespace warpscope::sm
