// The memory side of SmCore: MIO queues of the sub-cores, the data path they share, and the ports to L2 and
// HBM.
#include <algorithm>
#include <array>

#include "model/sm/next_issue.hpp"
#include "model/sm/slice_step.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::sm {
namespace {

using trace::OpClass;

/// Beyond this many pages the last wait of a burst grows no more than its transfer.
constexpr std::int32_t kMostPages = 64;

/// kHarmonic[n] is 1 + 1/2 + ... + 1/n.
constexpr std::array<double, kMostPages + 1> kHarmonic = [] {
  std::array<double, kMostPages + 1> sums{};
  for (std::size_t n = 1; n < sums.size(); ++n) {
    sums[n] = sums[n - 1] + 1.0 / static_cast<double>(n);
  }
  return sums;
}();

bool is_store(OpClass op_class) {
  return access_kind(op_class) != memory::AccessKind::read;
}

/// Cycles of backlog at the ports that the store buffer hides.
std::int64_t store_slack(const hw::Sm& spec, const memory::Response& response, std::uint32_t bytes) {
  const std::int64_t units = std::max(response.l2_port_units, response.dram_port_units);
  return bytes == 0 ? 0 : units * spec.global.store_buffer_bytes / bytes / memory::kPortUnits;
}

void release_scoreboard(WarpState& warp, std::uint8_t board, std::int32_t time) {
  if (board != trace::kNoScoreboard) {
    --warp.queued[board];
    warp.scoreboard[board] = std::max(warp.scoreboard[board], time);
  }
}

std::int64_t moved(std::int64_t base, const trace::AffineIndex& index, int warp,
                   const LoopCounters& counters) {
  std::int64_t value = base + index.per_warp * warp;
  for (std::size_t d = 0; d < trace::kMaxLoopDepth; ++d) {
    value += index.per_iteration[d] * counters.iteration[d];
  }
  return value;
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
  MemoryRequest result;
  result.kind = kind;
  result.cta_slot = state.cta_slot;
  result.tensor = memory.tensor;
  result.operand = operand;
  result.asked.segment = tensor.kind == trace::TensorKind::local
                             ? std::int64_t{sm_index_} * cta_slots_ + state.cta_slot
                             : moved(base.segment, memory.segment, state.warp_in_cta, counters);
  result.asked.offset = moved(base.offset, memory.offset, state.warp_in_cta, counters);
  clip(result, tensor, memory.bytes);
  return result;
}

void SmCore::enqueue_memory(SubCoreState& sub_core, WarpState& warp, const DecodedInstruction& instruction,
                            std::int32_t time, Step& step) {
  const int warp_index = index_of(warp);
  MioEntry& entry = sub_core.queue[sub_core.queue_count++];
  entry.enqueued = time;
  entry.pc = warp.pc;
  entry.warp = static_cast<std::uint32_t>(warp_index);
  if (leaves_sm(instruction)) {
    const memory::AccessKind kind = access_kind(instruction.op_class);
    const MemoryRequest asked = request(instruction.memory, kind, warp_index, loop_counters_[at(warp_index)]);
    entry.response = step.access(asked, warp_index, instruction.memory, time);
  }
  ++warp.in_queue;
  const bool is_long = instruction.global;
  for (const std::uint8_t board : {instruction.write_scoreboard, instruction.read_scoreboard}) {
    if (board != trace::kNoScoreboard) {
      ++warp.queued[board];
      const auto bit = static_cast<std::uint8_t>(1U << board);
      warp.long_scoreboards = static_cast<std::uint8_t>(is_long && board == instruction.write_scoreboard
                                                            ? warp.long_scoreboards | bit
                                                            : warp.long_scoreboards & ~bit);
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
  service_turns_[index] = turn_of(index, sub_core.queue_count > 0 ? since : kNever);
  const Turn first = first_of(service_turns_);
  next_served_ = sub_core_of(first);
  service_time_ = std::max(time_of(first), state_.lsu_free);
}

/// The pages of a CTA's burst wait independently and the CTA waits for the last of them: with exponentially
/// distributed waits of mean m the expected last of n is m * (1 + 1/2 + ... + 1/n).
std::int32_t SmCore::page_wait(CtaState& cta, const memory::Response& response, std::int32_t start) const {
  if (response.dram_bytes == 0) {
    return 0;
  }
  if (start >= cta.burst_end) {
    cta.burst_bytes = 0;
  }
  // More make no difference.
  cta.burst_bytes = std::min(cta.burst_bytes + response.dram_bytes, kMostPages * page_bytes_);
  const std::int32_t pages = std::max(1, (cta.burst_bytes + page_bytes_ / 2) / page_bytes_);
  return static_cast<std::int32_t>(response.page_wait_cycles * kHarmonic[at(std::min(pages, kMostPages))]);
}

std::int32_t SmCore::memory_completion(const DecodedInstruction& instruction, CtaState& cta,
                                       const memory::Response& response, std::int32_t start) {
  const std::int64_t start_units = std::int64_t{start} * memory::kPortUnits;
  const auto occupy = [&](std::int64_t& port, std::int32_t units) {
    if (units > 0) {
      port = std::max(port, start_units) + units;
    }
    return units > 0 ? port : start_units;
  };
  const std::int64_t port = occupy(state_.sm_port_units, response.sm_port_units);
  const std::int64_t l2 = occupy(state_.l2_port_units, response.l2_port_units);
  const std::int64_t dram = occupy(state_.dram_port_units, response.dram_port_units);
  if (is_store(instruction.op_class)) {
    return start + instruction.data_cycles;
  }
  const std::int64_t units =
      std::max({start_units, port, l2 - response.l2_slack_units, dram - response.dram_slack_units});
  const std::int32_t done = within_reach((units + memory::kPortUnits - 1) / memory::kPortUnits +
                                         response.latency_cycles + page_wait(cta, response, start));
  const std::int32_t arrival =
      (state_.phase + done + kArrivalGrid / 2) / kArrivalGrid * kArrivalGrid - state_.phase;
  if (response.dram_bytes > 0) {
    cta.burst_end = std::max(cta.burst_end, arrival);
  }
  return arrival;
}

template <bool kWatched>
void SmCore::serve_memory(SubCoreState& sub_core, std::int32_t time) {
  const MioEntry entry = sub_core.queue[0];
  std::copy(sub_core.queue.begin() + 1, sub_core.queue.begin() + sub_core.queue_count,
            sub_core.queue.begin());
  sub_core.queue[--sub_core.queue_count] = MioEntry{};
  const bool was_full = sub_core.pipe_free[static_cast<std::size_t>(PipeSlot::mio)] == kNever;
  if (was_full) {
    sub_core.pipe_free[static_cast<std::size_t>(PipeSlot::mio)] = time;
  }
  const DecodedInstruction& instruction = code_[entry.pc];
  WarpState& warp = state_.warps[entry.warp];
  state_.lsu_free = time + instruction.data_cycles;
  sub_core.mio_free = time + instruction.mio_cycles;
  counters_.data_path_cycles += instruction.data_cycles;

  std::int32_t done = time + instruction.latency;
  switch (instruction.op_class) {
    case OpClass::shared_load:
      counters_.shared_load_wavefronts += instruction.data_cycles;
      break;
    case OpClass::shared_store:
      counters_.shared_store_wavefronts += instruction.data_cycles;
      done = time + instruction.data_cycles;
      break;
    case OpClass::async_commit:
      if (warp.groups == kAsyncGroups) {
        std::shift_left(warp.group.begin(), warp.group.end(), 1);
        --warp.groups;
      }
      warp.group[warp.groups++] = std::max(warp.open_group, time);
      warp.open_group = 0;
      --warp.queued_commits;
      break;
    case OpClass::async_copy:
      done = memory_completion(instruction, state_.ctas[warp.cta_slot], entry.response, time);
      warp.open_group = std::max(warp.open_group, done);
      break;
    case OpClass::global_load:
      done = memory_completion(instruction, state_.ctas[warp.cta_slot], entry.response, time);
      break;
    case OpClass::global_store:
    case OpClass::local_store:
    case OpClass::global_reduce: {
      done = memory_completion(instruction, state_.ctas[warp.cta_slot], entry.response, time);
      // A store leaves the SM at once while the buffer has room; beyond that the queue waits for it to drain.
      const std::uint32_t bytes = decoded_.memory_operands[instruction.memory].bytes;
      state_.store_units = std::max(state_.store_units, std::int64_t{time} * memory::kPortUnits) +
                           std::max(entry.response.l2_port_units, entry.response.dram_port_units);
      sub_core.mio_free = std::max(
          sub_core.mio_free,
          within_reach(state_.store_units / memory::kPortUnits - store_slack(spec_, entry.response, bytes)));
      break;
    }
    default:
      break;
  }
  if constexpr (kWatched) {
    watched_->push_back({metrics::SmEvent::Kind::memory, static_cast<std::uint8_t>(entry.warp),
                         instruction.data_cycles, entry.pc, time, done});
  }
  update_service(sub_core);
  release_scoreboard(warp, instruction.write_scoreboard, done);
  release_scoreboard(warp, instruction.read_scoreboard, time + instruction.data_cycles);
  set_register_ready(static_cast<int>(entry.warp), instruction, done, instruction.global);
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
