// What SmCore does with instructions that start work and do not wait for it: products of warpgroups, arrivals
// at mbarriers, copies of boxes.
#include <algorithm>

#include "model/sm/next_issue.hpp"
#include "model/sm/pipe_use.hpp"
#include "model/sm/sm_core.hpp"
#include "model/sm/sm_numbers.hpp"

namespace warpscope::sm {
namespace {

using trace::OpClass;

/// A box leaves as one request for each so many bytes, as large as the pieces that the L2 takes.
constexpr std::uint32_t kRequestBytes = 2048;

}  // namespace

void SmCore::issue_async(SubCoreState& sub_core, int warp_index, const DecodedInstruction& instruction,
                         std::int32_t time) {
  const WarpState& warp = state_.warps[at(warp_index)];
  MbarrierPhases& phases = async_.phases(warp.cta_slot);
  switch (instruction.op_class) {
    case OpClass::wgmma: {
      std::int32_t& tensor_free = sub_core.pipe_free[slot(PipeSlot::tensor)];
      tensor_free = std::max(tensor_free, time) + instruction.interval;
      counters_.pipe_busy_cycles[slot(PipeSlot::tensor)] += instruction.interval;
      async_.products(warp_index)
          .add(tensor_free + spec_.tensor.wgmma.latency_cycles, instruction.immediate != 0);
      // Operands in shared memory come by its data path, a little at a time: others wait no longer than that.
      state_.lsu_free = std::max(state_.lsu_free, time) + instruction.data_cycles;
      counters_.data_path_cycles += instruction.data_cycles;
      update_service(sub_core);
      return;
    }
    case OpClass::mbarrier_arrive:
      // An mbarrier is a word of shared memory.
      if (phases.arrive(warp.warp_in_cta, instruction.immediate, time + spec_.shared.base_latency_cycles)) {
        wake_cta(warp.cta_slot);
      }
      return;
    case OpClass::mbarrier_wait:
      phases.pass(warp.warp_in_cta, instruction.immediate);
      return;
    case OpClass::bulk_load:
    case OpClass::bulk_store:
      return send_box(warp_index, instruction, time);
    default:
      return;
  }
}

void SmCore::send_box(int warp_index, const DecodedInstruction& instruction, std::int32_t time) {
  const WarpState& warp = state_.warps[at(warp_index)];
  MbarrierPhases& phases = async_.phases(warp.cta_slot);
  const memory::AccessKind kind = access_kind(instruction.op_class);
  const MemoryRequest box = request(instruction.memory, kind, warp_index, loop_counters_[at(warp_index)]);
  SentRequest sent;
  sent.request = box;
  sent.time = time + spec_.bulk.latency_cycles;
  sent.pc = warp.pc;
  sent.warp = static_cast<std::uint8_t>(warp_index);
  sent.commits = phases.phase_of_copies(warp.warp_in_cta, instruction.immediate);
  sent.tenant = tenants_[warp.cta_slot];
  // What lies outside the tensor is filled with zeros, and counts.
  const std::uint32_t outside = box.asked_bytes - box.bytes;
  const std::int64_t end = box.offset + box.bytes;
  if (box.bytes == 0) {
    // It moves nothing, but was asked for.
    sent_.push_back(sent);
  }
  for (std::int64_t begin = box.offset; begin < end;) {
    const std::int64_t stop = std::min<std::int64_t>(end, (begin / kRequestBytes + 1) * kRequestBytes);
    sent.request.offset = sent.request.asked.offset = begin;
    sent.request.bytes = static_cast<std::uint32_t>(stop - begin);
    sent.request.asked_bytes = sent.request.bytes + (stop == end ? outside : 0);
    sent_.push_back(sent);
    begin = stop;
  }
  if (outside > 0 && phases.move_bytes(instruction.immediate, sent.commits, outside, sent.time)) {
    wake_cta(warp.cta_slot);
  }
}

void SmCore::answer_box(const SentRequest& sent, const DecodedInstruction& instruction, std::int32_t time) {
  const auto cta_slot = static_cast<std::size_t>(sent.warp) / decoded_.warps_per_cta;
  if (sent.tenant != tenants_[cta_slot] || state_.ctas[cta_slot].warps_left == 0) {
    return;
  }
  const auto slot_number = static_cast<int>(cta_slot);
  if (async_.phases(slot_number).move_bytes(instruction.immediate, sent.commits, sent.request.bytes, time)) {
    wake_cta(slot_number);
  }
}

void SmCore::wake_cta(int cta_slot) {
  const int first = cta_slot * static_cast<int>(decoded_.warps_per_cta);
  for (int i = first; i < first + static_cast<int>(decoded_.warps_per_cta); ++i) {
    if (own_of(i) == kNever && state_.warps[at(i)].status == WarpStatus::running) {
      update_own(i);
      select_next(state_.sub_cores[places_[at(i)].sub_core]);
    }
  }
}

}  // namespace warpscope::sm
