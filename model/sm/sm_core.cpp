#include "model/sm/sm_core.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/sm/next_issue.hpp"
#include "model/sm/pipe_use.hpp"
#include "model/sm/sm_numbers.hpp"
#include "model/sm/stall_accounting.hpp"

namespace warpscope::sm {
namespace {

using metrics::Stall;
using trace::OpClass;

/// Applies `use` to all pairs of numbers.
template <typename Use>
void combine(SmCounters& a, const SmCounters& b, const Use& use) {
  for (std::size_t i = 0; i < a.stall_warp_cycles.size(); ++i) {
    use(a.stall_warp_cycles[i], b.stall_warp_cycles[i]);
  }
  use(a.shared_load_wavefronts, b.shared_load_wavefronts);
  use(a.shared_store_wavefronts, b.shared_store_wavefronts);
  for (std::size_t i = 0; i < a.pipe_busy_cycles.size(); ++i) {
    use(a.pipe_busy_cycles[i], b.pipe_busy_cycles[i]);
  }
  use(a.data_path_cycles, b.data_path_cycles);
}

}  // namespace

void SmCounters::add(const SmCounters& other, std::uint64_t times) {
  combine(*this, other, [times](auto& sum, auto part) { sum += part * static_cast<decltype(part)>(times); });
}

void SmCounters::subtract(const SmCounters& other) {
  combine(*this, other, [](auto& value, auto part) { value -= part; });
}

void SmCounters::add_times(const SmCounters& other, double times, double before) {
  combine(*this, other, [times, before](auto& sum, auto part) {
    const auto counted = static_cast<double>(part);
    sum += static_cast<decltype(part)>(std::llround(counted * times) - std::llround(counted * before));
  });
}

SmCore::SmCore(const hw::HwConfig& config, const trace::Trace& trace, const DecodedLaunch& decoded,
               int cta_slots, std::vector<SentRequest>& sent)
    : spec_(config.sm),
      trace_(trace),
      decoded_(decoded),
      code_(decoded.code.data()),
      cta_slots_(cta_slots),
      takes_turns_(decoded.warps_per_cta > at(config.sm.sub_cores)),
      free_slots_(cta_slots),
      sent_(sent),
      async_(decoded, cta_slots),
      stores_(spec_.global.store_buffer_bytes),
      reductions_(spec_.global.reduce_buffer_entries) {
  const std::size_t warps = at(cta_slots) * decoded.warps_per_cta;
  for (int warp = 0; warp < kMaxWarps; ++warp) {
    places_[at(warp)] = {static_cast<std::uint8_t>(warp % spec_.sub_cores),
                         static_cast<std::uint8_t>(warp / spec_.sub_cores)};
  }
  bases_.resize(at(cta_slots) * decoded.memory_operands.size());
  const auto lines_of = [&](int bytes) {
    return static_cast<std::uint32_t>(bytes / spec_.icache.line_bytes);
  };
  near_lines_ = InstructionLines(lines_of(spec_.icache.l0_bytes), decoded.code_lines);
  far_lines_ = InstructionLines(lines_of(spec_.icache.l1_bytes), decoded.code_lines);
  // Programs are paths through one kernel: each begins where the kernel does.
  for (const std::uint32_t begin : decoded.program_begin) {
    const std::uint32_t first = code_[begin].line;
    const std::uint32_t end = std::min(decoded.code_lines, first + lines_of(spec_.icache.preloaded_bytes));
    for (std::uint32_t line = first; line < end; ++line) {
      if (far_lines_.find(line) == nullptr) {
        far_lines_.put(line, 0);
      }
    }
  }
  if (decoded.needs_register_scoreboard) {
    registers_.assign(warps * decoded.register_count, {});
  }
  for (const SubCoreState& sub_core : state_.sub_cores) {
    update_service(sub_core);
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
  if (decoded_.is_asynchronous) {
    async_.begin_cta(cta_slot);
  }
  ctas_[at(cta_slot)] = cta;
  ctas_[at(cta_slot)].occupied = true;
  --free_slots_;
  ++tenants_[at(cta_slot)];
  const std::size_t operands = decoded_.memory_operands.size();
  for (std::size_t i = 0; i < operands; ++i) {
    bases_[at(cta_slot) * operands + i] = base_address(decoded_.memory_operands[i], cta);
  }
  CtaState& cta_state = state_.ctas[at(cta_slot)];
  cta_state = CtaState{};
  loop_heads_[at(cta_slot)] = {};
  cta_state.warps_left = static_cast<std::uint8_t>(decoded_.warps_per_cta);
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
    enter_loops(warp, 0);
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

std::int32_t SmCore::run_until(std::int32_t end, std::vector<Completion>& completions) {
  completions_ = &completions;
  watched_ != nullptr ? run_events<true>(end) : run_events<false>(end);
  return std::min(service_time_, state_.sub_cores[first_to_issue()].next_time);
}

template <bool kWatched>
void SmCore::run_events(std::int32_t end) {
  while (true) {
    const std::size_t first = first_to_issue();
    SubCoreState& sub_core = state_.sub_cores[first];
    const std::int32_t issue_time = sub_core.next_time;
    if (std::min(service_time_, issue_time) >= end) {
      break;
    }
    if (service_time_ <= issue_time) {
      serve_memory<kWatched>(state_.sub_cores[next_served_], service_time_);
    } else {
      do {
        WarpState& warp = state_.warps[sub_core.next_warp * at(spec_.sub_cores) + first];
        issue<kWatched>(sub_core, warp, histories_[first]);
        // Somebody who watches is told of events in the order of their times.
      } while (!kWatched && goes_ahead(sub_core, first, end));
    }
  }
}

bool SmCore::goes_ahead(const SubCoreState& sub_core, std::size_t index, std::int32_t end) const {
  // The rest of the SM changes a sub-core by serving its MIO queue, by opening a barrier, and by completing
  // phases and products.
  const std::int32_t served = std::max(time_of(service_turns_[index]), state_.lsu_free);
  if (sub_core.next_time >= std::min(served, end) || sub_core.at_barrier > 0 || decoded_.is_asynchronous) {
    return false;
  }
  const WarpState& warp = state_.warps[sub_core.next_warp * at(spec_.sub_cores) + index];
  return code_[warp.pc].reach != Reach::sm;
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

void SmCore::put_behind_its_cta(SubCoreState& sub_core, std::uint8_t local) const {
  const auto index = static_cast<std::size_t>(&sub_core - state_.sub_cores.data());
  const auto cta_of = [&](std::uint8_t warp) {
    return state_.warps[warp * at(spec_.sub_cores) + index].cta_slot;
  };
  std::size_t place = 0;
  while (sub_core.by_age[place] != local) {
    ++place;
  }
  for (; place + 1 < sub_core.warp_count && cta_of(sub_core.by_age[place + 1]) == cta_of(local); ++place) {
    std::swap(sub_core.by_age[place], sub_core.by_age[place + 1]);
  }
}

template <bool kWatched>
void SmCore::issue(SubCoreState& sub_core, WarpState& warp, IssueHistory& history) {
  const std::int32_t time = sub_core.next_time;
  const std::uint8_t local = sub_core.next_warp;
  const DecodedInstruction* const instruction = code_ + warp.pc;
  if constexpr (kWatched) {
    history.go_on_to(time);
    watch_stalls(sub_core, local, warp, history);
    watch_issue(warp, *instruction, time);
  }
  const std::int32_t own = std::max(warp.ready, sub_core.own[local]);
  account_stalls(sub_core, local, warp, {warp.ready, own, time}, history);
  const std::int32_t read = read_operands(sub_core, *instruction, local, time);
  if (read > time) {
    hold_others(sub_core, time, read - time);
  }
  history.issue(time, read - time + 1);
  ++counters_.stall_warp_cycles[reason(Stall::selected)];
  ++issued_by_opcode_[static_cast<std::size_t>(instruction->opcode)];
  warp.attributed = time + 1;
  warp.ready = read + instruction->stall;
  sub_core.issue_free = read + 1;
  sub_core.last_warp = local;
  sub_core.issued_at[local] = time;
  if (takes_turns_) {
    put_behind_its_cta(sub_core, local);
  }
  warp.ready_reason = reason(Stall::wait);
  if (instruction->op_class != OpClass::exit) {
    look_ahead(sub_core, local, warp, instruction[1], time);
  }
  if (instruction->reach == Reach::pipe) {
    take_pipe(sub_core, *instruction, read);
    ++warp.pc;
    update_own(sub_core, local, warp, instruction[1]);
  } else {
    finish_issue(sub_core, warp, *instruction, read);
  }
  select_next(sub_core);
}

// Functions of their own: inlined into the loop they would cost it registers.
template void SmCore::issue<false>(SubCoreState&, WarpState&, IssueHistory&);
template void SmCore::issue<true>(SubCoreState&, WarpState&, IssueHistory&);

void SmCore::finish_issue(SubCoreState& sub_core, WarpState& warp, const DecodedInstruction& instruction,
                          std::int32_t time) {
  const int warp_index = index_of(warp);
  if (instruction.pipe == PipeSlot::mio) {
    enqueue_memory(sub_core, warp, instruction, time);
  } else {
    std::int32_t start = time;
    if (instruction.pipe != PipeSlot::none) {
      start = take_pipe(sub_core, instruction, time);
    } else if (instruction.op_class == OpClass::constant_load) {
      start = constant_ready(state_.loaded_constants, instruction.immediate, time);
    }
    if (instruction.write_scoreboard != trace::kNoScoreboard) {
      std::int32_t& release = warp.scoreboard[instruction.write_scoreboard];
      release = std::max(release, start + instruction.latency);
      warp.long_scoreboards &= static_cast<std::uint8_t>(~(1U << instruction.write_scoreboard));
    }
    set_register_ready(warp_index, instruction, start + instruction.latency, false);
  }
  if (instruction.op_class == OpClass::exit) {
    exit_warp(warp_index, time);
    return;
  }
  if (is_asynchronous(instruction.op_class)) {
    issue_async(sub_core, warp_index, instruction, time);
  }
  go_on(warp, instruction, time);
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
