#include "model/fast/echo.hpp"

#include <algorithm>
#include <utility>

#include "model/sm/sm_core.hpp"

namespace warpscope::fast {
Echo::Echo(const trace::Trace& trace, const sm::DecodedLaunch& decoded, int cta_slots,
           const gpu::SmGroup& group, const hw::L2& l2)
    : trace_(trace),
      decoded_(decoded),
      group_(group),
      members_(trace, decoded.memory_operands, cta_slots, group, l2),
      demand_(trace.tensors.size()) {}

void Echo::gather() {
  for (const JoinedAccess& access : others_.join()) {
    append(access, false);
  }
  others_.clear();
  for (const JoinedAccess& access : all_.join()) {
    append(access, true);
  }
  all_.clear();
}

void Echo::install(int slot, SlotMembers members) {
  // What has been gathered refers to the members that were there.
  gather();
  members_.install(slot, std::move(members));
}

void Echo::repeat(const sm::MemoryRequest& request, memory::Access& own) {
  const std::uint32_t bytes = request.asked_bytes;
  const MemberRuns& runs =
      members_.runs(request.cta_slot, request.operand, request.asked.offset, request.turn);
  demand_[request.tensor].add(request.kind, request.offset, request.bytes, bytes, 0, runs.members);
  own.accesses = runs.own.members;
  own.partitions = runs.own.partitions;
  own.apart_cycles = members_.members(request.cta_slot).apart_cycles;
  if (request.kind == memory::AccessKind::reduce && own.accesses > 1) {
    // A slice adds lane by lane: SMs that would all come at once soon keep out of one another's way. A read
    // brings them together again, since all wait for the same bytes.
    append({request.kind, request.tensor, request.asked, bytes, &runs,
            decoded_.memory_operands[request.operand].lines},
           MemberRun{{}, own.accesses - 1, own.partitions});
    own.accesses = 1;
  }
  if (!runs.others.empty()) {
    others_.add({request.kind, request.tensor, request.asked, bytes, &runs,
                 decoded_.memory_operands[request.operand].lines});
  }
}

void Echo::append(const JoinedAccess& access, const MemberRun& run) {
  sm::MemoryRequest request;
  request.asked = {access.begin.segment + run.distance.segment, access.begin.offset + run.distance.offset};
  sm::clip(request, trace_.tensors[access.tensor], static_cast<std::uint32_t>(access.bytes));
  if (request.bytes == 0) {
    return;
  }
  memory::Access piece;
  piece.sm = static_cast<std::uint16_t>(group_.first_sm);
  piece.tensor = access.tensor;
  piece.kind = access.kind;
  piece.segment = request.segment;
  piece.offset = request.offset;
  piece.bytes = request.bytes;
  piece.lines = static_cast<int>(access.lines);
  piece.accesses = run.members * access.times;
  piece.partitions = run.partitions;
  piece.again_bytes = access.kind == memory::AccessKind::read ? access.again_bytes : 0;
  waiting_.push_back(piece);
}

void Echo::append(const JoinedAccess& access, bool with_own) {
  if (with_own) {
    sm::MemoryRequest own;
    own.asked = access.begin;
    const auto bytes = static_cast<std::uint32_t>(access.bytes);
    sm::clip(own, trace_.tensors[access.tensor], bytes);
    demand_[access.tensor].add(access.kind, own.offset, own.bytes, bytes, access.again_bytes,
                               std::uint64_t{access.runs->members} * access.times);
    append(access, access.runs->own);
  }
  for (const MemberRun& run : access.runs->others) {
    append(access, run);
  }
}

void Echo::release(sim::Cycles now, memory::MemorySystem& memory) {
  gather();
  if (now % kSpillsStayCycles == 0) {
    members_.forget_spills();
  }
  memory.touch(waiting_, now);
  waiting_.clear();
}

}  // namespace warpscope::fast
