#include "model/sm/sm_core.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "model/sm/next_issue.hpp"
#include "model/sm/pipe_use.hpp"
#include "model/sm/slice_step.hpp"

namespace warpscope::sm {
namespace {

using metrics::Stall;
using trace::OpClass;

/// Moves a time to a new origin; what lies in the past counts as now.
void shift(std::int32_t& time, std::int32_t origin) {
  if (time != kNever) {
    time = std::max(0, time - origin);
  }
}
void shift(std::int64_t& units, std::int64_t origin) {
  units = std::max<std::int64_t>(0, units - origin);
}

}  // namespace

void SmCounters::add(const SmCounters& other, std::uint64_t times) {
  for (std::size_t i = 0; i < issued_by_opcode.size(); ++i) {
    issued_by_opcode[i] += other.issued_by_opcode[i] * times;
  }
  for (std::size_t i = 0; i < stall_warp_cycles.size(); ++i) {
    stall_warp_cycles[i] += other.stall_warp_cycles[i] * times;
  }
  shared_load_wavefronts += other.shared_load_wavefronts * times;
  shared_store_wavefronts += other.shared_store_wavefronts * times;
  for (std::size_t i = 0; i < pipe_busy_cycles.size(); ++i) {
    pipe_busy_cycles[i] += other.pipe_busy_cycles[i] * static_cast<std::int64_t>(times);
  }
  data_path_cycles += other.data_path_cycles * static_cast<std::int64_t>(times);
}

SmCore::SmCore(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& /*launch*/,
               const DecodedLaunch& decoded, int cta_slots)
    : spec_(config.sm),
      page_bytes_(config.hbm.page_bytes),
      trace_(trace),
      decoded_(decoded),
      code_(decoded.code.data()),
      cta_slots_(cta_slots),
      free_slots_(cta_slots) {
  const std::size_t warps = at(cta_slots) * decoded.warps_per_cta;
  for (int warp = 0; warp < kMaxWarps; ++warp) {
    places_[at(warp)] = {static_cast<std::uint8_t>(warp % spec_.sub_cores),
                         static_cast<std::uint8_t>(warp / spec_.sub_cores)};
  }
  bases_.resize(at(cta_slots) * decoded.memory_operands.size());
  const hw::InstructionCache& icache = spec_.icache;
  const int code_bytes = static_cast<int>(decoded.code.size()) * kInstructionBytes;
  instruction_sets_ = instruction_sets(icache, decoded.code.back().line + 1U);
  compared_begin_ = (kInstructionSets - instruction_sets_) * sizeof(InstructionSet);
  compared_bytes_ = offsetof(SmState, warps) + warps * sizeof(WarpState) - compared_begin_;
  line_fill_cycles_ = code_bytes > icache.l1_bytes ? icache.l2_fill_cycles : icache.l1_fill_cycles;
  if (decoded.needs_register_scoreboard) {
    registers_.assign(warps * decoded.register_count, {});
  }
}

int SmCore::first_free_slot() const {
  const auto* free = std::ranges::find_if(ctas_, [](const ResidentCta& cta) { return !cta.occupied; });
  return static_cast<int>(free - ctas_.begin());
}

void SmCore::install(int cta_slot, const ResidentCta& cta, std::int32_t start) {
  if (resident_warps_ == 0) {
    count_busy_behind(start, 1);
  }
  ctas_[at(cta_slot)] = cta;
  ctas_[at(cta_slot)].occupied = true;
  --free_slots_;
  const std::size_t operands = decoded_.memory_operands.size();
  for (std::size_t i = 0; i < operands; ++i) {
    bases_[at(cta_slot) * operands + i] = base_address(decoded_.memory_operands[i], cta);
  }
  CtaState& cta_state = state_.ctas[at(cta_slot)];
  cta_state = CtaState{};
  cta_state.warps_left = static_cast<std::uint8_t>(decoded_.warps_per_cta);
  Slice ignored;
  const MemoryPort no_port;
  Step step{0, 0, no_port, nullptr, ignored};
  for (std::uint32_t i = 0; i < decoded_.warps_per_cta; ++i) {
    const int warp = cta_slot * static_cast<int>(decoded_.warps_per_cta) + static_cast<int>(i);
    WarpState& state = state_.warps[at(warp)];
    state = WarpState{};
    state.status = WarpStatus::running;
    state.cta_slot = static_cast<std::uint8_t>(cta_slot);
    state.warp_in_cta = static_cast<std::uint8_t>(i);
    state.pc = decoded_.program_begin[cta.cta_class->program_of_warp[i]];
    state.ready = state.attributed = start;
    state.ready_reason = reason(Stall::wait);
    loop_counters_[at(warp)] = LoopCounters{};
    if (!registers_.empty()) {
      std::fill_n(registers_.begin() + static_cast<std::ptrdiff_t>(at(warp) * decoded_.register_count),
                  decoded_.register_count, RegisterState{});
    }
    enter_loops(warp, 0, step);
    fetch(state, start);
    update_own(warp);
    SubCoreState& sub_core = state_.sub_cores[at(warp % spec_.sub_cores)];
    sub_core.by_age[sub_core.warp_count++] = static_cast<std::uint8_t>(warp / spec_.sub_cores);
    ++resident_warps_;
  }
  for (int s = 0; s < spec_.sub_cores; ++s) {
    select_next(state_.sub_cores[at(s)]);
  }
}

Slice SmCore::run_slice(std::int32_t min_cycles, std::int32_t max_cycles, const MemoryPort& port,
                        std::vector<SliceEvent>* events) {
  Slice result;
  Step step{min_cycles, max_cycles, port, events, result};
  for (std::size_t s = 0; s < kMaxSubCores; ++s) {
    histories_[s] = IssueHistory{.hold = state_.sub_cores[s].dispatch_free};
    update_service(state_.sub_cores[s]);
  }
  const std::uint64_t& issued = counters_.stall_warp_cycles[reason(Stall::selected)];
  const std::uint64_t issued_before = issued;
  watched_ != nullptr ? run_events<true>(step) : run_events<false>(step);
  result.end = step.end;
  result.issued = issued - issued_before;
  finish_accounting(step.end);
  rebase(step.end);
  return result;
}

template <bool kWatched>
void SmCore::run_events(Step& step) {
  bool nothing_yet = true;
  while (true) {
    const std::size_t first = first_to_issue();
    SubCoreState& sub_core = state_.sub_cores[first];
    const std::int32_t issue_time = sub_core.next_time;
    if (const std::int32_t next = std::min(service_time_, issue_time); next >= step.end) {
      step.result.deadlock = next == kNever && resident_warps_ > 0;
      // An SM in which nothing happens need not be looked at until something does.
      if (next != kNever && nothing_yet) {
        step.end = next;
      }
      break;
    }
    nothing_yet = false;
    if (service_time_ <= issue_time) {
      serve_memory<kWatched>(state_.sub_cores[next_served_], service_time_);
    } else {
      WarpState& warp = state_.warps[sub_core.next_warp * at(spec_.sub_cores) + first];
      issue<kWatched>(sub_core, warp, histories_[first], step);
    }
  }
}

std::size_t SmCore::first_to_issue() const {
  // With branches: a wrong guess costs less than what follows waiting for the outcome each time.
  std::size_t first = 0;
  std::int32_t earliest = state_.sub_cores[0].next_time;
  for (std::size_t s = 1; s < kMaxSubCores; ++s) {
    const std::int32_t time = state_.sub_cores[s].next_time;
    if (time < earliest) {
      first = s;
      earliest = time;
    }
  }
  return first;
}

template <bool kWatched>
void SmCore::issue(SubCoreState& sub_core, WarpState& warp, IssueHistory& history, Step& step) {
  const std::int32_t time = sub_core.next_time;
  const std::uint8_t local = sub_core.next_warp;
  const DecodedInstruction* const instruction = code_ + warp.pc;
  if constexpr (kWatched) {
    watch_stalls(sub_core, local, warp, history, time);
    watch_issue(warp, *instruction, time);
  }
  account_stalls(sub_core, local, warp, history, time);
  history.issue(time, instruction->dispatch_hold);
  ++counters_.stall_warp_cycles[reason(Stall::selected)];
  ++counters_.issued_by_opcode[static_cast<std::size_t>(instruction->opcode)];
  warp.attributed = time + 1;
  warp.ready = time + instruction->stall;
  sub_core.issue_free = time + 1;
  sub_core.dispatch_free = time + instruction->dispatch_hold;
  sub_core.last_warp = local;
  warp.ready_reason = reason(Stall::wait);
  if (instruction->plain) {
    take_pipe(sub_core, *instruction, time);
    ++warp.pc;
    update_own(sub_core, local, warp, instruction[1]);
  } else {
    finish_issue(sub_core, warp, *instruction, time, step);
  }
  select_next(sub_core);
}

// Functions of their own: inlined into the loop they would cost it registers.
template void SmCore::issue<false>(SubCoreState&, WarpState&, IssueHistory&, Step&);
template void SmCore::issue<true>(SubCoreState&, WarpState&, IssueHistory&, Step&);

void SmCore::finish_issue(SubCoreState& sub_core, WarpState& warp, const DecodedInstruction& instruction,
                          std::int32_t time, Step& step) {
  const int warp_index = index_of(warp);
  if (instruction.pipe == PipeSlot::mio) {
    if (instruction.tensor_hold > 0) {
      put_off_tensor(sub_core, instruction.tensor_hold, time);
    }
    enqueue_memory(sub_core, warp, instruction, time, step);
  } else {
    if (instruction.pipe != PipeSlot::none) {
      take_pipe(sub_core, instruction, time);
    }
    if (instruction.write_scoreboard != trace::kNoScoreboard) {
      std::int32_t& release = warp.scoreboard[instruction.write_scoreboard];
      release = std::max(release, time + instruction.latency);
      warp.long_scoreboards &= static_cast<std::uint8_t>(~(1U << instruction.write_scoreboard));
    }
    set_register_ready(warp_index, instruction, time + instruction.latency, false);
  }
  if (instruction.op_class == OpClass::exit) {
    exit_warp(warp_index, time, step);
    return;
  }
  go_on(warp, instruction, time, step);
  if (instruction.op_class == OpClass::barrier) {
    arrive_at_barrier(warp_index, instruction.immediate, time);
  } else {
    update_own(sub_core, sub_core.last_warp, warp, code_[warp.pc]);
  }
}

void SmCore::release_slot(int cta_slot) {
  ctas_[at(cta_slot)].occupied = false;
  ++free_slots_;
}

void SmCore::adopt(const std::uint8_t* state_bytes,
                   const std::vector<std::pair<std::int32_t, std::uint8_t>>& completions) {
  std::memcpy(reinterpret_cast<std::uint8_t*>(&state_) + compared_begin_, state_bytes, compared_bytes_);
  if (!registers_.empty()) {
    std::memcpy(registers_.data(), state_bytes + compared_bytes_, register_bytes().size());
  }
  for (const auto& [time, cta_slot] : completions) {
    release_slot(cta_slot);
  }
  resident_warps_ = 0;
  for (int s = 0; s < spec_.sub_cores; ++s) {
    resident_warps_ += state_.sub_cores[at(s)].warp_count;
  }
}

void SmCore::rebase(std::int32_t end) {
  state_.phase = (state_.phase + end) % kArrivalGrid;
  const std::int64_t units = std::int64_t{end} * memory::kPortUnits;
  shift(state_.lsu_free, end);
  shift(state_.reduce_free, end);
  shift(state_.l2_port_units, units);
  shift(state_.dram_port_units, units);
  shift(state_.sm_port_units, units);
  shift(state_.store_units, units);
  shift(state_.fill_free, end);
  for (InstructionSet& set : used_instruction_sets()) {
    for (std::int32_t& time : set.available) {
      shift(time, end);
    }
  }
  for (SubCoreState& sub_core : state_.sub_cores) {
    shift(sub_core.issue_free, end);
    shift(sub_core.dispatch_free, end);
    shift(sub_core.next_time, end);
    shift(sub_core.tensor_put_off_until, end);
    shift(sub_core.tensor_busy_before, end);
    for (std::int32_t& time : sub_core.pipe_free) {
      shift(time, end);
    }
    for (std::int32_t& time : sub_core.own) {
      shift(time, end);
    }
    // Who has waited longest at the data path is served first, so these times stay in the past.
    sub_core.mio_free -= end;
    for (int i = 0; i < sub_core.queue_count; ++i) {
      sub_core.queue[at(i)].enqueued -= end;
    }
    if (sub_core.queue_count == 0) {
      sub_core.mio_free = std::max(0, sub_core.mio_free);
    }
  }
  for (int i = 0; i < cta_slots_; ++i) {
    CtaState& cta = state_.ctas[at(i)];
    shift(cta.barrier_free, end);
    shift(cta.burst_end, end);
    if (cta.burst_end == 0) {
      cta.burst_bytes = 0;
    }
  }
  for (int i = 0; i < warp_slots(); ++i) {
    WarpState& warp = state_.warps[at(i)];
    if (warp.status == WarpStatus::empty) {
      continue;
    }
    shift(warp.ready, end);
    shift(warp.attributed, end);
    shift(warp.open_group, end);
    shift(warp.fetch_ready, end);
    for (std::int32_t& time : warp.scoreboard) {
      shift(time, end);
    }
    for (std::int32_t& time : warp.group) {
      shift(time, end);
    }
    while (warp.groups > 0 && warp.group[0] == 0) {
      std::shift_left(warp.group.begin(), warp.group.end(), 1);
      warp.group[--warp.groups] = 0;
    }
  }
  for (RegisterState& state : registers_) {
    shift(state.ready, end);
    state.is_long = state.ready > 0 ? state.is_long : 0;
  }
}

std::vector<std::pair<int, std::uint32_t>> SmCore::waiting_warps() const {
  std::vector<std::pair<int, std::uint32_t>> waiting;
  for (int s = 0; s < spec_.sub_cores; ++s) {
    const SubCoreState& sub_core = state_.sub_cores[at(s)];
    for (int i = 0; i < sub_core.warp_count; ++i) {
      const int warp = sub_core.by_age[at(i)] * spec_.sub_cores + s;
      waiting.emplace_back(warp, state_.warps[at(warp)].pc);
    }
  }
  std::ranges::sort(waiting);
  return waiting;
}

}  // namespace warpscope::sm
