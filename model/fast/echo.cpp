#include "model/fast/echo.hpp"

#include <algorithm>
#include <utility>

#include "model/memory/block_cache.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::fast {
namespace {

/// Reads move whole sectors.
std::uint64_t sector_bytes(std::int64_t offset, std::uint32_t bytes) {
  constexpr std::int64_t kSector = memory::kSectorBytes;
  const std::int64_t sectors = (offset + bytes + kSector - 1) / kSector - offset / kSector;
  return bytes == 0 ? 0 : static_cast<std::uint64_t>(sectors * kSector);
}

}  // namespace

Echo::Echo(const trace::Trace& trace, const sm::DecodedLaunch& decoded, int cta_slots,
           const gpu::SmGroup& group, int l2_partitions)
    : trace_(trace),
      decoded_(decoded),
      group_(group),
      members_(trace, decoded.memory_operands, cta_slots, group, l2_partitions),
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

void Echo::count(memory::AccessKind kind, std::uint16_t tensor, std::int64_t offset,
                 std::uint32_t inside_bytes, std::uint32_t asked_bytes, std::uint32_t again_bytes,
                 std::uint64_t times) {
  Demand& demand = demand_[tensor];
  const bool read = kind == memory::AccessKind::read;
  (read ? demand.read_asked : demand.write_asked) += times * asked_bytes;
  (read ? demand.read_moved : demand.write_moved) +=
      times * (read ? sector_bytes(offset, inside_bytes) + again_bytes : inside_bytes);
}

void Echo::repeat(const sm::MemoryRequest& request, memory::Access& own) {
  const std::uint32_t bytes = request.asked_bytes;
  const MemberRuns& runs = members_.runs(request.cta_slot, request.operand, request.asked.offset);
  count(request.kind, request.tensor, request.offset, request.bytes, bytes, 0, runs.members);
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
    count(access.kind, access.tensor, own.offset, own.bytes, bytes,
          access.kind == memory::AccessKind::read ? access.again_bytes : 0,
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
