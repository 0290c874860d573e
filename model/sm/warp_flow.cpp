// The course of a warp in SmCore: what it waits for, its loops, barriers and end.
#include <algorithm>
#include <bit>

#include "model/sm/next_issue.hpp"
#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {

namespace {

using metrics::Stall;
using trace::OpClass;

}  // namespace

SmCore::Wait SmCore::wait_for_results(const WarpState& warp, const DecodedInstruction& next) {
  std::int32_t own = warp.ready;
  Reason why = reason(Stall::wait);
  const auto wait_for = [&](std::int32_t time, bool is_long) {
    if (time > own) {
      own = time;
      why = reason(is_long ? Stall::long_scoreboard : Stall::short_scoreboard);
    }
  };
  for (unsigned mask = next.wait_mask; mask != 0; mask &= mask - 1) {
    const auto board = static_cast<std::size_t>(std::countr_zero(mask));
    wait_for(warp.queued[board] > 0 ? kNever : warp.scoreboard[board],
             (warp.long_scoreboards >> board & 1U) != 0);
  }
  if (!next.has_control) {
    Reason register_reason = why;
    const std::int32_t time = register_ready(index_of(warp), next, register_reason);
    wait_for(time, register_reason == reason(Stall::long_scoreboard));
  }
  if (next.op_class == OpClass::exit && warp.in_queue > 0) {
    own = kNever;
    why = reason(Stall::drain);
  }
  if (next.op_class == OpClass::async_wait) {
    // Of the groups in order of age all but the youngest `immediate` must have arrived.
    const int to_wait_for = int{warp.groups} + warp.queued_commits - next.immediate;
    if (to_wait_for > warp.groups) {
      wait_for(kNever, true);
    }
    for (int i = 0; i < std::min<int>(to_wait_for, warp.groups); ++i) {
      wait_for(warp.group_copies[at(i)] > 0 ? kNever : warp.group[at(i)], true);
    }
  }
  if (next.op_class == OpClass::constant_operand && own != kNever) {
    const std::int32_t there = constant_ready(state_.operand_constants, next.immediate, own);
    if (there > own) {
      return {there, reason(Stall::imc_miss)};
    }
  }
  if (next.op_class == OpClass::wgmma_wait) {
    wait_for(async_.products(index_of(warp)).done(next.immediate), false);
  } else if (next.op_class == OpClass::mbarrier_wait) {
    wait_for(async_.phases(warp.cta_slot).ready(warp.warp_in_cta, next.immediate), true);
  }
  return {own, why};
}

std::int32_t SmCore::constant_ready(ConstantLines& lines, std::uint16_t line, std::int32_t time) {
  if (lines[line] == kNever) {
    const int miss = state_.has_constants ? spec_.constant.miss_cycles : spec_.constant.first_miss_cycles;
    state_.has_constants = true;
    lines[line] = within_reach(std::int64_t{time} + miss);
    state_.constants_come = std::max(state_.constants_come, lines[line]);
  }
  return std::max(lines[line], time);
}

void SmCore::update_own(int warp_index) {
  const WarpPlace& place = places_[at(warp_index)];
  WarpState& warp = state_.warps[at(warp_index)];
  update_own(state_.sub_cores[place.sub_core], place.local, warp, code_[warp.pc]);
}

void SmCore::resolve_branch(WarpState& warp, std::int32_t resolved) {
  if (warp.ready < resolved) {
    warp.ready = resolved;
    warp.ready_reason = reason(Stall::branch_resolving);
  }
}

void SmCore::go_on(WarpState& warp, const DecodedInstruction& instruction, std::int32_t time) {
  if (!instruction.closes_loop) {
    ++warp.pc;
    if (code_[warp.pc].loops_begun > 0) {
      enter_loops(index_of(warp), 0);
    }
    if (instruction.op_class == trace::OpClass::convergence) {
      resolve_branch(warp, time + instruction.stall + spec_.issue.branch_cycles);
    } else if (instruction.op_class == trace::OpClass::branch && instruction.immediate > 0) {
      resolve_branch(warp, time + 1 + spec_.issue.branch_cycles);
    }
  } else if (close_loop(index_of(warp))) {
    resolve_branch(warp, time + 1 + spec_.issue.branch_cycles);
    if (warp.warp_in_cta == 0) {
      LoopHead& head = loop_heads_[warp.cta_slot];
      ++head.count;
      head.time = time;
    }
  }
  if (warp.fetched_line != code_[warp.pc].line + 1U) {
    fetch(warp, time);
  }
}

bool SmCore::close_loop(int warp_index) {
  WarpState& warp = state_.warps[at(warp_index)];
  LoopCounters& counters = loop_counters_[at(warp_index)];
  const std::uint32_t closed = decoded_.loop_ends[warp.pc].closed;
  const DecodedLoop& loop = decoded_.loops[closed];
  if (counters.iteration[loop.depth] + 1 < counters.trips[loop.depth]) {
    ++counters.iteration[loop.depth];
    warp.pc = loop.begin;
    enter_loops(warp_index, loop.depth + 1);
    return true;
  }
  counters.iteration[loop.depth] = counters.trips[loop.depth] = 0;
  ++warp.pc;
  enter_loops(warp_index, 0);
  return false;
}

void SmCore::enter_loops(int warp_index, int from_depth) {
  WarpState& warp = state_.warps[at(warp_index)];
  if (code_[warp.pc].loops_begun == 0) {
    return;
  }
  LoopCounters& counters = loop_counters_[at(warp_index)];
  for (bool skipped = true; skipped;) {
    skipped = false;
    const std::uint32_t begun = decoded_.loop_ends[warp.pc].begun;
    const std::uint32_t loops = code_[warp.pc].loops_begun;
    for (std::uint32_t i = 0; i < loops && !skipped; ++i) {
      const DecodedLoop& loop = decoded_.loops[begun + i];
      if (loop.depth < from_depth) {
        continue;
      }
      const std::uint32_t trips = trips_of(loop, *ctas_[warp.cta_slot].cta_class, counters);
      if (trips == 0) {
        warp.pc = loop.end;
        from_depth = 0;
        skipped = true;
      } else {
        counters.iteration[loop.depth] = 0;
        counters.trips[loop.depth] = trips;
      }
    }
  }
}

void SmCore::arrive_at_barrier(int warp_index, int operand, std::int32_t time) {
  const int barrier = operand % trace::kBarrierNames;
  const int named = operand / trace::kBarrierNames;
  const std::uint32_t warps = named != 0 ? static_cast<std::uint32_t>(named) : decoded_.warps_per_cta;
  WarpState& warp = state_.warps[at(warp_index)];
  CtaState& cta = state_.ctas[warp.cta_slot];
  cta.barrier_free = std::max(cta.barrier_free, time) + spec_.barrier.per_warp_cycles;
  warp.status = WarpStatus::at_barrier;
  warp.barrier = static_cast<std::uint8_t>(barrier);
  own_of(warp_index) = warp.ready = kNever;
  ++state_.sub_cores[places_[at(warp_index)].sub_core].at_barrier;
  warp.ready_reason = reason(Stall::barrier);
  if (++cta.arrived[at(barrier)] < warps) {
    return;
  }
  cta.arrived[at(barrier)] = 0;
  const std::int32_t release = cta.barrier_free + spec_.barrier.base_cycles;
  if (watched_ != nullptr) {
    watched_->push_back({metrics::SmEvent::Kind::barrier, static_cast<std::uint8_t>(warp_index),
                         static_cast<std::uint16_t>(barrier), 0, time, release});
  }
  const int first = warp.cta_slot * static_cast<int>(decoded_.warps_per_cta);
  for (int i = first; i < first + static_cast<int>(decoded_.warps_per_cta); ++i) {
    WarpState& other = state_.warps[at(i)];
    if (other.status == WarpStatus::at_barrier && other.barrier == barrier) {
      other.status = WarpStatus::running;
      --state_.sub_cores[places_[at(i)].sub_core].at_barrier;
      other.ready = release;
      update_own(i);
    }
  }
  for (int s = 0; s < spec_.sub_cores; ++s) {
    select_next(state_.sub_cores[at(s)]);
  }
}

void SmCore::exit_warp(int warp_index, std::int32_t time) {
  WarpState& warp = state_.warps[at(warp_index)];
  const int cta_slot = warp.cta_slot;
  SubCoreState& sub_core = state_.sub_cores[at(warp_index % spec_.sub_cores)];
  const auto end = sub_core.by_age.begin() + sub_core.warp_count;
  const auto local = static_cast<std::uint8_t>(warp_index / spec_.sub_cores);
  const auto place = std::find(sub_core.by_age.begin(), end, local);
  std::copy(place + 1, end, place);
  sub_core.by_age[--sub_core.warp_count] = 0;
  sub_core.last_warp = SubCoreState::kNobody;
  sub_core.own[local] = kNever;
  sub_core.pipe[local] = 0;
  sub_core.asleep &= ~(std::uint32_t{1} << local);
  warp = WarpState{};
  --resident_warps_;
  if (--state_.ctas[at(cta_slot)].warps_left == 0) {
    completions_->emplace_back(time, static_cast<std::uint8_t>(cta_slot));
    if (resident_warps_ == 0) {
      count_busy_behind(time + 1, -1);
    }
  }
}

std::int32_t SmCore::register_ready(int warp, const DecodedInstruction& instruction, Reason& why) const {
  const RegisterUse& use = decoded_.register_uses[at(static_cast<int>(&instruction - code_))];
  const std::size_t base = at(warp) * decoded_.register_count;
  std::int32_t ready = 0;
  const auto visit = [&](const trace::RegisterRange& range) {
    for (std::size_t r = base + range.first; r < base + range.first + range.count; ++r) {
      if (registers_[r].ready > ready) {
        ready = registers_[r].ready;
        why = reason(registers_[r].is_long != 0 ? Stall::long_scoreboard : Stall::short_scoreboard);
      }
    }
  };
  visit(use.destination);
  std::ranges::for_each(use.sources, visit);
  return ready;
}

void SmCore::set_register_ready(int warp, const DecodedInstruction& instruction, std::int32_t time,
                                bool is_long) {
  if (registers_.empty()) {
    return;
  }
  const RegisterUse& use = decoded_.register_uses[at(static_cast<int>(&instruction - code_))];
  const std::size_t base = at(warp) * decoded_.register_count;
  for (std::size_t r = use.destination.first; r < std::size_t{use.destination.first} + use.destination.count;
       ++r) {
    registers_[base + r] = {time, is_long ? 1 : 0};
  }
}

}  // namespace warpscope::sm
