// Where the cycles of resident warps went.
#include <algorithm>

#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {

using metrics::Stall;

void SmCore::account_stalls(const SubCoreState& sub_core, int local, const WarpState& warp,
                            const IssueHistory& history, std::int32_t until) {
  // How long each of them was is hard to predict, so no branches.
  const std::int32_t ready = std::max(warp.attributed, std::min(warp.ready, until));
  const std::int32_t own = std::max(ready, std::min(sub_core.own[at(local)], until));
  counters_.stall_warp_cycles[warp.ready_reason] += static_cast<std::uint64_t>(ready - warp.attributed);
  counters_.stall_warp_cycles[warp.own_reason] += static_cast<std::uint64_t>(own - ready);
  if (own < until) {
    account_ready(sub_core, local, history, own, until);
  }
}

/// Cycles from `from` to `until` that a warp of the sub-core was ready: others issued, the dispatch port was
/// held, or its pipe was taken.
void SmCore::account_ready(const SubCoreState& sub_core, int local, const IssueHistory& history,
                           std::int32_t from, std::int32_t until) {
  const std::int32_t window = until - from;
  const std::int32_t others = history.issued_in(window, until);
  const std::int32_t held = history.held_in(window, until);
  const std::uint8_t pipe = sub_core.pipe[at(local)];
  const Stall rest = throttle(sub_core, pipe, from);
  counters_.stall_warp_cycles[reason(Stall::not_selected)] += static_cast<std::uint64_t>(others);
  counters_.stall_warp_cycles[reason(Stall::dispatch_stall)] += static_cast<std::uint64_t>(held);
  counters_.stall_warp_cycles[reason(rest)] += static_cast<std::uint64_t>(window - others - held);
}

Stall SmCore::throttle(const SubCoreState& sub_core, std::uint8_t pipe, std::int32_t since) {
  const bool queued =
      pipe == static_cast<std::uint8_t>(PipeSlot::mio) || pipe == static_cast<std::uint8_t>(PipeSlot::xu);
  const bool piped = pipe != static_cast<std::uint8_t>(PipeSlot::none);
  return !piped || sub_core.pipe_free[pipe] <= since ? Stall::not_selected
         : queued                                    ? Stall::mio_throttle
                                                     : Stall::math_pipe_throttle;
}

void SmCore::finish_accounting(std::int32_t end) {
  for (int s = 0; s < spec_.sub_cores; ++s) {
    const SubCoreState& sub_core = state_.sub_cores[at(s)];
    for (int i = 0; i < sub_core.warp_count; ++i) {
      const int local = sub_core.by_age[at(i)];
      WarpState& warp = state_.warps[at(local * spec_.sub_cores + s)];
      if (watched_ != nullptr) {
        watch_stalls(sub_core, local, warp, histories_[at(s)], end);
      }
      account_stalls(sub_core, local, warp, histories_[at(s)], end);
      warp.attributed = std::max(warp.attributed, end);
    }
  }
}

}  // namespace warpscope::sm
