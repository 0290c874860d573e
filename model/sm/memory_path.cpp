// The memory side of SmCore: MIO queues of the sub-cores, and the data path they share.
#include <algorithm>

#include "model/sm/next_issue.hpp"
#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {
namespace {

using trace::OpClass;

/// Cycles until there is room where an instruction has left a full queue: two SHFL beside every HMMA take 9.9
/// cycles on an H100 instead of 8 (register_ports.csv).
constexpr std::int32_t kRoomAfter = 2;

}  // namespace

void SmCore::enqueue_memory(SubCoreState& sub_core, WarpState& warp, const DecodedInstruction& instruction,
                            std::int32_t time) {
  const int warp_index = index_of(warp);
  MioEntry& entry = sub_core.queue[sub_core.queue_count++];
  entry.enqueued = time;
  entry.pc = warp.pc;
  entry.warp = static_cast<std::uint32_t>(warp_index);
  if (leaves_sm(instruction)) {
    const memory::AccessKind kind = access_kind(instruction.op_class);
    prepared_[places_[at(warp_index)].sub_core].push(
        request(instruction.memory, kind, warp_index, loop_counters_[at(warp_index)]));
  }
  ++warp.in_queue;
  const bool is_long = instruction.global;
  for (const std::uint8_t board : {instruction.write_scoreboard, instruction.read_scoreboard}) {
    if (board != trace::kNoScoreboard) {
      ++warp.queued[board];
      const auto bit = static_cast<std::uint8_t>(1U << board);
      warp.long_scoreboards =
          static_cast<std::uint8_t>(is_long ? warp.long_scoreboards | bit : warp.long_scoreboards & ~bit);
    }
  }
  if (instruction.op_class == OpClass::async_commit) {
    ++warp.queued_commits;
  }
  set_register_ready(warp_index, instruction, kNever, is_long);
  if (sub_core.queue_count == 1) {
    update_service(sub_core);
  }
  if (sub_core.queue_count >= spec_.mio.queue_entries) {
    sub_core.pipe_free[static_cast<std::size_t>(PipeSlot::mio)] = kNever;
  }
}

void SmCore::update_service(const SubCoreState& sub_core) {
  const auto index = static_cast<std::size_t>(&sub_core - state_.sub_cores.data());
  const std::int32_t since = std::max(sub_core.queue[0].enqueued, sub_core.mio_free);
  const std::int32_t waits_since = sub_core.waits_for_room ? sub_core.waits_since : since;
  service_turns_[index] = turn_of(index, sub_core.queue_count > 0 ? since : kNever, waits_since);
  const Turn first = first_of(service_turns_, state_.last_served);
  next_served_ = sub_core_of(first);
  service_time_ = std::max(time_of(first), state_.lsu_free);
}

void SmCore::fill_shared_memory(std::int32_t time) {
  while (arrivals_.first() <= time) {
    state_.lsu_free = std::max(state_.lsu_free, arrivals_.take()) + spec_.global.async_copy_fill_cycles;
    counters_.data_path_cycles += spec_.global.async_copy_fill_cycles;
  }
}

void SmCore::put_off_memory(SubCoreState& sub_core, std::int32_t cycles) {
  if (sub_core.mio_free != kNever) {
    sub_core.mio_free += cycles;
    update_service(sub_core);
  }
}

std::int32_t SmCore::read_registers(SubCoreState& sub_core, const DecodedInstruction& instruction,
                                    std::int32_t time) const {
  const int cycles_per_register = std::max(1, kRegisterBytes / spec_.shared.sub_core_bytes_per_clk);
  sub_core.ports.go_on_to(time);
  std::int32_t late = 0;
  std::int32_t due = time + spec_.operands.late_cycles;
  for (int i = 0; i < instruction.anew.first; ++i, due += cycles_per_register) {
    late = read_later(sub_core.ports, &RegisterPorts::by_memory, due + late) - due;
  }
  return late;
}

template <bool kWatched>
void SmCore::serve_memory(SubCoreState& sub_core, std::int32_t time) {
  const DecodedInstruction& instruction = code_[sub_core.queue[0].pc];
  if (arrivals_.first() <= time) {
    fill_shared_memory(time);
    service_time_ = std::max(time, state_.lsu_free);
    if (service_time_ > time) {
      return;
    }
  }
  const bool sends = leaves_sm(instruction);
  if (sends && is_store(instruction.op_class) && !may_leave(sub_core, instruction, time)) {
    return;
  }
  const MioEntry entry = sub_core.queue[0];
  std::copy(sub_core.queue.begin() + 1, sub_core.queue.begin() + sub_core.queue_count,
            sub_core.queue.begin());
  sub_core.queue[--sub_core.queue_count] = MioEntry{};
  const bool was_full = sub_core.pipe_free[static_cast<std::size_t>(PipeSlot::mio)] == kNever;
  if (was_full) {
    sub_core.pipe_free[static_cast<std::size_t>(PipeSlot::mio)] = time + kRoomAfter;
  }
  WarpState& warp = state_.warps[entry.warp];
  state_.last_served = places_[entry.warp].sub_core;
  state_.lsu_free = time + instruction.data_cycles;
  time += read_registers(sub_core, instruction, time);
  if (instruction.op_class == OpClass::shared_store) {
    state_.lsu_free = time + instruction.data_cycles;  // for its data the path waits
  }
  sub_core.mio_free = time + instruction.mio_cycles;
  counters_.data_path_cycles += instruction.data_cycles;

  std::int32_t done = time + instruction.latency;
  bool awaits_answer = false;
  if (sends) {
    const bool exists = prepared_[places_[entry.warp].sub_core].first().bytes > 0;
    awaits_answer = exists && !is_store(instruction.op_class);
    done = time + instruction.data_cycles;
    if (instruction.op_class == OpClass::async_copy && !exists) {
      arrivals_.add(time);  // of zeros
    }
    exists ? send(entry, warp, instruction, time) : pass_by(entry, time);
  }
  switch (instruction.op_class) {
    case OpClass::shared_load:
      counters_.shared_load_wavefronts += instruction.data_cycles;
      break;
    case OpClass::shared_store:
      counters_.shared_store_wavefronts += instruction.data_cycles;
      done = time + instruction.data_cycles;
      break;
    case OpClass::shared_atomic:
      done = time + instruction.data_cycles;
      break;
    case OpClass::async_commit:
      commit_group(warp, time);
      break;
    default:
      break;
  }
  if constexpr (kWatched) {
    watched_->push_back({metrics::SmEvent::Kind::memory, static_cast<std::uint8_t>(entry.warp),
                         instruction.data_cycles, entry.pc, time, done});
    if (instruction.op_class == OpClass::async_copy && !awaits_answer) {
      watch_copy(entry.warp, entry.pc, warp.commits, done);
    }
  }
  update_service(sub_core);
  release_scoreboard(warp, instruction.read_scoreboard, time + instruction.data_cycles);
  if (!awaits_answer) {
    release_scoreboard(warp, instruction.write_scoreboard, done);
    set_register_ready(static_cast<int>(entry.warp), instruction, done, instruction.global);
  }
  --warp.in_queue;
  const int warp_index = static_cast<int>(entry.warp);
  std::int32_t& own = own_of(warp_index);
  const bool waited = own == kNever && warp.status == WarpStatus::running;
  if (waited) {
    const Reason waited_for = warp.own_reason;
    update_own(warp_index);
    // What the warp waited for has happened only now, even where nothing remembers when.
    if (own < time) {
      own = time;
      warp.own_reason = waited_for;
    }
  }
  if (waited || was_full) {
    select_next(sub_core);
  }
}

template void SmCore::serve_memory<false>(SubCoreState&, std::int32_t);
template void SmCore::serve_memory<true>(SubCoreState&, std::int32_t);

}  // namespace warpscope::sm
