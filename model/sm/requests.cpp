// Requests of SmCore: where they go, when they may leave the SM, and what their answers set free.
#include <algorithm>

#include "model/sm/next_issue.hpp"
#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {
namespace {

using trace::OpClass;

/// Lines that a reduction adds to: the port and the buffer in front of it take each by itself
/// (strided_reductions.csv).
std::int32_t lines_of(const MemoryRequest& request) {
  return static_cast<std::int32_t>(
      std::max<std::int64_t>(1, (request.bytes + trace::kLineBytes - 1) / trace::kLineBytes));
}

/// What room a reduction asks for. `whole_entries` of the buffer hold a whole one each and the others a line:
/// of those that wait as many take no room for their further lines (reduction_bursts.csv: 100 of one line
/// find room, and 37 of four).
std::int64_t entries_of(const MemoryRequest& request, int whole_entries) {
  const std::int64_t lines = lines_of(request);
  return lines - (lines - 1) * whole_entries;
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

bool SmCore::may_leave(SubCoreState& sub_core, const DecodedInstruction& instruction, std::int32_t time) {
  const MemoryRequest& request = prepared_[places_[sub_core.queue[0].warp].sub_core].first();
  const bool reduces = instruction.op_class == OpClass::global_reduce;
  const std::int32_t room =
      reduces ? reductions_.room_at(entries_of(request, spec_.global.reduce_whole_entries), time)
              : stores_.room_at(request.bytes, time);
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

}  // namespace warpscope::sm
