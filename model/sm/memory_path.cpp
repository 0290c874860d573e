// The memory side of SmCore: MIO queues of the sub-cores, the data path they share, and requests that leave.
#include <algorithm>
#include <array>

#include "model/sm/next_issue.hpp"
#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {
namespace {

using trace::OpClass;

bool is_store(OpClass op_class) {
  return access_kind(op_class) != memory::AccessKind::read;
}

/// Lines that a reduction adds to: the port and the buffer in front of it take each by itself
/// (strided_reductions.csv).
std::int32_t lines_of(const MemoryRequest& request) {
  constexpr std::uint32_t kLineBytes = 128;
  return static_cast<std::int32_t>(std::max(1U, (request.bytes + kLineBytes - 1) / kLineBytes));
}

/// What room a reduction asks for. Some entries of the buffer hold a whole one each and the others a line: of
/// those that wait as many take no room for their further lines (reduction_bursts.csv: 100 of one line find
/// room, and 37 of four).
std::int64_t entries_of(const MemoryRequest& request) {
  constexpr std::int64_t kHoldWhole = 16;
  const std::int64_t lines = lines_of(request);
  return lines - (lines - 1) * kHoldWhole;
}

/// Cycles until there is room where an instruction has left a full queue: two SHFL beside every HMMA take 9.9
/// cycles on an H100 instead of 8 (register_ports.csv).
constexpr std::int32_t kRoomAfter = 2;

void release_scoreboard(WarpState& warp, std::uint8_t board, std::int32_t time) {
  if (board != trace::kNoScoreboard) {
    --warp.queued[board];
    warp.scoreboard[board] = std::max(warp.scoreboard[board], time);
  }
}

}  // namespace

void clip(MemoryRequest& request, const trace::Tensor& tensor, std::uint32_t bytes) {
  request.segment = request.asked.segment;
  request.offset = std::max<std::int64_t>(0, request.asked.offset);
  const bool exists =
      tensor.kind == trace::TensorKind::local || (request.segment >= 0 && request.segment < tensor.segments);
  const std::int64_t end = std::min<std::int64_t>(request.asked.offset + bytes, tensor.segment_bytes);
  request.bytes = static_cast<std::uint32_t>(exists ? std::max<std::int64_t>(0, end - request.offset) : 0);
}

MemoryRequest SmCore::request(std::uint32_t operand, memory::AccessKind kind, int warp,
                              const LoopCounters& counters) const {
  const trace::MemoryOperand& memory = decoded_.memory_operands[operand];
  const WarpState& state = state_.warps[at(warp)];
  const trace::Tensor& tensor = trace_.tensors[memory.tensor];
  const Address& base = bases_[state.cta_slot * decoded_.memory_operands.size() + operand];
  const auto moved = [&](std::int64_t from, const trace::AffineIndex& index) {
    const std::int64_t tabled =
        index.symbol_table ? table_step(index, *ctas_[state.cta_slot].cta_class, counters) : 0;
    return from + index.per_warp * state.warp_in_cta + moved_by(index, counters) + tabled;
  };
  MemoryRequest result;
  result.kind = kind;
  result.cta_slot = state.cta_slot;
  result.tensor = memory.tensor;
  result.operand = operand;
  result.turn = counters.iteration[0];
  result.asked.segment = tensor.kind == trace::TensorKind::local
                             ? std::int64_t{sm_index_} * cta_slots_ + state.cta_slot
                             : moved(base.segment, memory.segment);
  result.asked.offset = moved(base.offset, memory.offset);
  result.asked_bytes = memory.bytes;
  clip(result, tensor, memory.bytes);
  return result;
}

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

bool SmCore::may_leave(SubCoreState& sub_core, const DecodedInstruction& instruction, std::int32_t time) {
  const MemoryRequest& request = prepared_[places_[sub_core.queue[0].warp].sub_core].first();
  const bool reduces = instruction.op_class == OpClass::global_reduce;
  const std::int32_t room =
      reduces ? reductions_.room_at(entries_of(request), time) : stores_.room_at(request.bytes, time);
  if (room <= time) {
    sub_core.waits_for_room = false;
    return true;
  }
  if (!sub_core.waits_for_room) {
    sub_core.waits_for_room = true;
    sub_core.waits_since = std::max(sub_core.queue[0].enqueued, sub_core.mio_free);
  }
  sub_core.mio_free = room;
  update_service(sub_core);
  return false;
}

void SmCore::send(const MioEntry& entry, WarpState& warp, const DecodedInstruction& instruction,
                  std::int32_t time) {
  PreparedRequests& prepared = prepared_[places_[entry.warp].sub_core];
  SentRequest sent;
  sent.request = prepared.first();
  // All requests leave by one port, in order; addresses alone take no time there.
  sent.time = std::max(time, state_.request_free);
  sent.pc = entry.pc;
  sent.warp = static_cast<std::uint8_t>(entry.warp);
  sent.commits = warp.commits;
  sent.tenant = tenants_[warp.cta_slot];
  prepared.pop();
  if (instruction.op_class == OpClass::global_reduce) {
    state_.request_free = sent.time + spec_.global.reduce_sustained_cycles * lines_of(sent.request);
    reductions_.enter(lines_of(sent.request));
  } else if (is_store(instruction.op_class)) {
    const std::int32_t rate = spec_.global.store_bytes_per_clk;
    state_.request_free = sent.time + (static_cast<std::int32_t>(sent.request.bytes) + rate - 1) / rate;
    stores_.enter(sent.request.bytes);
  } else if (instruction.op_class == OpClass::async_copy) {
    ++warp.open_copies;
  }
  sent_.push_back(sent);
}

void SmCore::pass_by(const MioEntry& entry, std::int32_t time) {
  PreparedRequests& prepared = prepared_[places_[entry.warp].sub_core];
  SentRequest& sent = sent_.emplace_back();
  sent.request = prepared.first();
  sent.time = time;
  sent.warp = static_cast<std::uint8_t>(entry.warp);
  prepared.pop();
}

void SmCore::answer(const SentRequest& sent, std::int32_t time) {
  const DecodedInstruction& instruction = code_[sent.pc];
  if (trace::is_bulk_copy(instruction.op_class)) {
    answer_box(sent, instruction, time);
    return;
  }
  SubCoreState& sub_core = state_.sub_cores[places_[sent.warp].sub_core];
  if (is_store(instruction.op_class)) {
    instruction.op_class == OpClass::global_reduce ? reductions_.leave(lines_of(sent.request), time)
                                                   : stores_.leave(sent.request.bytes, time);
    for (SubCoreState& waiting : state_.sub_cores) {
      // Answers come in no order of their times: this one may make room earlier than those before it.
      waiting.mio_free = waiting.waits_for_room ? std::min(waiting.mio_free, time) : waiting.mio_free;
      update_service(waiting);
    }
    return;
  }
  WarpState& warp = state_.warps[sent.warp];
  // Nobody has to wait for what he reads: the warp may be gone, and another CTA's in its place.
  if (warp.status == WarpStatus::empty || sent.tenant != tenants_[warp.cta_slot]) {
    return;
  }
  const bool takes_longer =
      instruction.opcode == trace::Opcode::ATOM_32 || instruction.op_class == OpClass::async_copy;
  const std::int32_t ready = takes_longer ? time + instruction.latency : time;
  if (instruction.op_class == OpClass::async_copy) {
    arrivals_.add(time);
    const std::uint32_t age = warp.commits - sent.commits;
    const std::size_t group = warp.groups - std::min<std::uint32_t>(age, warp.groups);
    std::int32_t& arrival = age == 0 ? warp.open_group : warp.group[group];
    arrival = std::max(arrival, ready);
    if (watched_ != nullptr) {
      watch_copy(sent.warp, sent.pc, sent.commits, ready);
    }
    --(age == 0 ? warp.open_copies : warp.group_copies[group]);
  }
  release_scoreboard(warp, instruction.write_scoreboard, ready);
  set_register_ready(sent.warp, instruction, ready, true);
  if (own_of(sent.warp) == kNever && warp.status == WarpStatus::running) {
    update_own(sent.warp);
    select_next(sub_core);
  }
}

void SmCore::commit_group(WarpState& warp, std::int32_t time) {
  while (warp.groups > 0 && warp.group_copies[0] == 0 && warp.group[0] <= time) {
    std::shift_left(warp.group.begin(), warp.group.end(), 1);
    std::shift_left(warp.group_copies.begin(), warp.group_copies.end(), 1);
    --warp.groups;
    warp.group[warp.groups] = warp.group_copies[warp.groups] = 0;
  }
  if (warp.groups == kAsyncGroups) {
    // A wait for all but so many groups never tells these two apart (validated in trace/validate_program).
    warp.group[1] = std::max(warp.group[0], warp.group[1]);
    warp.group_copies[1] = warp.group_copies[0] + warp.group_copies[1];
    std::shift_left(warp.group.begin(), warp.group.end(), 1);
    std::shift_left(warp.group_copies.begin(), warp.group_copies.end(), 1);
    --warp.groups;
  }
  warp.group_copies[warp.groups] = warp.open_copies;
  warp.group[warp.groups++] = std::max(warp.open_group, time);
  warp.open_group = 0;
  warp.open_copies = 0;
  ++warp.commits;
  --warp.queued_commits;
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
