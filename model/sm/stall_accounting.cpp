// Where the cycles of resident warps went.
#include <algorithm>

#include "model/sm/slice_step.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::sm {

using metrics::Stall;

void SmCore::account_stalls(const SubCoreState& sub_core, int local, const WarpState& warp,
                            IssueHistory& history, std::int32_t until) {
  std::int32_t from = warp.attributed;
  const auto charge = [&](std::int32_t to, Reason why) {
    const std::int32_t end = std::min(to, until);
    if (end > from) {
      counters_.stall_warp_cycles[why] += static_cast<std::uint64_t>(end - from);
      from = end;
    }
  };
  charge(warp.ready, warp.ready_reason);
  charge(sub_core.own[at(local)], warp.own_reason);
  if (from >= until) {
    return;
  }
  // The warp was ready: others issued, the dispatch port was held, or its pipe was taken.
  history.advance(until);
  const std::int32_t window = until - from;
  const std::int32_t others = history.issued_in(window);
  const std::int32_t held = history.held_in(window);
  const std::uint8_t pipe = sub_core.pipe[at(local)];
  const bool memory = pipe == static_cast<std::uint8_t>(PipeSlot::mio);
  const bool piped = pipe != static_cast<std::uint8_t>(PipeSlot::none);
  const Stall rest = !piped || sub_core.pipe_free[pipe] <= from ? Stall::not_selected
                     : memory                                   ? Stall::mio_throttle
                                                                : Stall::math_pipe_throttle;
  counters_.stall_warp_cycles[reason(Stall::not_selected)] += static_cast<std::uint64_t>(others);
  counters_.stall_warp_cycles[reason(Stall::dispatch_stall)] += static_cast<std::uint64_t>(held);
  counters_.stall_warp_cycles[reason(rest)] += static_cast<std::uint64_t>(window - others - held);
}

void SmCore::finish_accounting(std::int32_t end) {
  for (int s = 0; s < spec_.sub_cores; ++s) {
    const SubCoreState& sub_core = state_.sub_cores[at(s)];
    for (int i = 0; i < sub_core.warp_count; ++i) {
      const int local = sub_core.by_age[at(i)];
      WarpState& warp = state_.warps[at(local * spec_.sub_cores + s)];
      account_stalls(sub_core, local, warp, histories_[at(s)], end);
      warp.attributed = std::max(warp.attributed, end);
    }
  }
}

}  // namespace warpscope::sm
