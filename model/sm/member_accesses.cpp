#include "model/sm/member_accesses.hpp"

#include <utility>

namespace warpscope::sm {

MemberAccesses::MemberAccesses(const trace::Trace& trace, const std::vector<trace::MemoryOperand>& operands,
                               int cta_slots)
    : trace_(trace), operands_(operands), slots_(static_cast<std::size_t>(cta_slots)) {
  for (Slot& slot : slots_) {
    slot.runs.resize(operands.size());
  }
}

void MemberAccesses::install(int slot, SlotMembers members) {
  Slot& target = slots_[static_cast<std::size_t>(slot)];
  target.members = std::move(members);
  for (std::vector<MemberRun>& runs : target.runs) {
    runs.clear();
  }
}

const std::vector<MemberRun>& MemberAccesses::runs(int slot, std::uint32_t operand) {
  Slot& source = slots_[static_cast<std::size_t>(slot)];
  std::vector<MemberRun>& runs = source.runs[operand];
  if (!runs.empty()) {
    return runs;
  }
  const SlotMembers& members = source.members;
  const trace::MemoryOperand& memory = operands_[operand];
  const bool local = trace_.tensors[memory.tensor].kind == trace::TensorKind::local;
  const Address own = base_address(memory, members.ctas[static_cast<std::size_t>(members.representative)]);
  for (int i = 0; i < static_cast<int>(members.ctas.size()); ++i) {
    const Address other = base_address(memory, members.ctas[static_cast<std::size_t>(i)]);
    // Spilled registers have a segment for each slot of each SM.
    const std::int64_t segments =
        local ? std::int64_t{i - members.representative} * static_cast<std::int64_t>(slots_.size())
              : other.segment - own.segment;
    const Address distance{segments, other.offset - own.offset};
    if (runs.empty() || !(runs.back().distance == distance)) {
      runs.push_back({i, 0, distance, false});
    }
    ++runs.back().members;
    runs.back().has_representative |= i == members.representative;
  }
  return runs;
}

}  // namespace warpscope::sm
