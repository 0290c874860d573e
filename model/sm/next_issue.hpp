// When a warp can issue next, and which warp of a sub-core comes first. Every instruction comes by here, so
// these are inline.
#pragma once

#include <algorithm>
#include <bit>

#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {

/// Up to so many warps it is quicker to look at all of them than to guess where the search may end.
inline constexpr int kFewWarps = 4;

/// Whether the pipe of the warp's next instruction is one that takes long, and not free before the warp is
/// done with its own waits: of those that wait there the oldest comes first (measured, issue_turns.md).
inline bool waits_for_long_pipe(const SubCoreState& sub_core, std::uint8_t warp) {
  const std::uint8_t pipe = sub_core.pipe[warp];
  const bool is_long =
      pipe == static_cast<std::uint8_t>(PipeSlot::tensor) || pipe == static_cast<std::uint8_t>(PipeSlot::xu);
  return is_long && sub_core.own[warp] <= sub_core.pipe_free[pipe];
}

/// Whether the warp's next instruction was ready before there was room in the MIO queue.
inline bool waits_for_queue(const SubCoreState& sub_core, std::uint8_t warp) {
  constexpr auto kMio = static_cast<std::uint8_t>(PipeSlot::mio);
  return sub_core.pipe[warp] == kMio && sub_core.own[warp] <= sub_core.pipe_free[kMio];
}

/// Of the warps that wait there as `warp` does the one that issued longest ago: their instructions take turns
/// (measured, pair_bursts.md).
inline std::uint8_t first_at_queue(const SubCoreState& sub_core, std::uint8_t warp) {
  for (int i = 0; i < sub_core.warp_count; ++i) {
    const std::uint8_t other = sub_core.by_age[at(i)];
    if (waits_for_queue(sub_core, other) && sub_core.issued_at[other] < sub_core.issued_at[warp]) {
      warp = other;
    }
  }
  return warp;
}

inline void SmCore::select_next(SubCoreState& sub_core) {
  const std::int32_t now = sub_core.issue_free;
  const auto earliest = [&](std::uint8_t warp) {
    return std::max(sub_core.own[warp], sub_core.pipe_free[sub_core.pipe[warp]]);
  };
  // The warp that issued last goes on if it can at once, as it can more often than not.
  const std::uint8_t last = sub_core.last_warp;
  const bool is_there = last != SubCoreState::kNobody;
  if (is_there && earliest(last) <= now && (sub_core.asleep >> last & 1) == 0 &&
      !waits_for_queue(sub_core, last)) {
    sub_core.next_time = now;
    sub_core.next_warp = last;
    return;
  }
  // It also comes first of those that can issue later on, but where it waits for the tensor pipe or the XU.
  // Then, and behind it, the oldest does, and last of all who sleeps. Which it will be can hardly be
  // predicted, so few branches: time, sleep, rank and warp are one number.
  const int first = is_there && !waits_for_long_pipe(sub_core, last) ? last : SubCoreState::kNobody;
  const auto candidate = [&](std::uint8_t warp, int rank) {
    const auto asleep = static_cast<int>(sub_core.asleep >> warp & 1) << 15;
    return std::int64_t{std::max(earliest(warp), now)} << 16 | asleep | (warp == first ? 0 : rank << 8) |
           warp;
  };
  const int warps = sub_core.warp_count;
  std::int64_t best = std::int64_t{kNever} << 16 | sub_core.last_warp;
  // Until one that does not sleep can issue now.
  for (int i = 0; i < warps && (warps <= kFewWarps || best >> 15 > std::int64_t{now} << 1); ++i) {
    best = std::min(best, candidate(sub_core.by_age[at(i)], i + 1));
  }
  sub_core.next_time = static_cast<std::int32_t>(best >> 16);
  sub_core.next_warp = static_cast<std::uint8_t>(best);
  if (sub_core.next_time != kNever && waits_for_queue(sub_core, sub_core.next_warp)) {
    sub_core.next_warp = first_at_queue(sub_core, sub_core.next_warp);
  }
}

inline void SmCore::look_ahead(SubCoreState& sub_core, std::uint8_t local, const WarpState& warp,
                               const DecodedInstruction& next, std::int32_t time) {
  sub_core.asleep &= ~(std::uint32_t{1} << local);
  if (next.wait_mask == 0 || next.pipe != PipeSlot::tensor) {
    return;
  }
  for (unsigned mask = next.wait_mask; mask != 0; mask &= mask - 1) {
    const auto board = static_cast<std::size_t>(std::countr_zero(mask));
    if (warp.queued[board] > 0 || warp.scoreboard[board] > time) {
      sub_core.asleep |= std::uint32_t{1} << local;
    }
  }
}

inline void SmCore::update_own(SubCoreState& sub_core, std::uint8_t local, WarpState& warp,
                               const DecodedInstruction& next) {
  const Wait results =
      next.waits ? wait_for_results(warp, next) : Wait{warp.ready, reason(metrics::Stall::wait)};
  const Wait wait = warp.fetch_ready > results.until
                        ? Wait{warp.fetch_ready, reason(metrics::Stall::no_instruction)}
                        : results;
  sub_core.own[local] = wait.until;
  sub_core.pipe[local] = static_cast<std::uint8_t>(next.pipe);
  warp.own_reason = wait.why;
}

}  // namespace warpscope::sm
