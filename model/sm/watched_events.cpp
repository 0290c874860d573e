// What a watched SmCore tells of its warps: the same that it counts, with the cycles in which it happened.
#include <algorithm>

#include "model/sm/stall_accounting.hpp"

namespace warpscope::sm {

using metrics::SmEvent;
using metrics::Stall;

void SmCore::watch_stalls(const SubCoreState& sub_core, int local, const WarpState& warp,
                          const IssueHistory& history) {
  const std::int32_t until = history.end;
  const std::int32_t ready = std::max(warp.attributed, std::min(warp.ready, until));
  const std::int32_t own = std::max(ready, std::min(sub_core.own[at(local)], until));
  const auto tell = [&](std::int32_t begin, std::int32_t end, Reason why) {
    if (begin < end) {
      watched_->push_back(
          {SmEvent::Kind::stall, static_cast<std::uint8_t>(index_of(warp)), why, warp.pc, begin, end});
    }
  };
  tell(warp.attributed, ready, warp.ready_reason);
  tell(ready, own, warp.own_reason);
  const Reason rest = throttle(sub_core, sub_core.pipe[at(local)], own);
  const auto why_at = [&](std::int32_t cycle) {
    const std::int32_t age = until - 1 - cycle;
    const std::uint64_t bit = age < IssueHistory::kCycles ? std::uint64_t{1} << age : 0;
    return (history.issued & bit) != 0 ? reason(Stall::not_selected)
           : (history.held & bit) != 0 ? reason(Stall::dispatch_stall)
                                       : rest;
  };
  for (std::int32_t begin = own; begin < until;) {
    const Reason why = why_at(begin);
    std::int32_t end = begin + 1;
    while (end < until && why_at(end) == why) {
      ++end;
    }
    tell(begin, end, why);
    begin = end;
  }
}

void SmCore::watch_issue(const WarpState& warp, const DecodedInstruction& instruction, std::int32_t time) {
  const bool piped = instruction.pipe < PipeSlot::mio;
  watched_->push_back({SmEvent::Kind::issue, static_cast<std::uint8_t>(index_of(warp)), 0, warp.pc, time,
                       time + (piped ? instruction.interval : 1)});
}

void SmCore::watch_copy(std::uint32_t warp, std::uint32_t pc, std::uint32_t group, std::int32_t time) {
  watched_->push_back({SmEvent::Kind::copied, static_cast<std::uint8_t>(warp),
                       static_cast<std::uint16_t>(group), pc, time, time});
}

}  // namespace warpscope::sm
