// Which addresses the SMs of a group access while one of them is simulated.
#pragma once

#include <cstdint>
#include <vector>

#include "model/sm/address.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::sm {

/// Consecutive SMs of a group whose CTAs access the same address, and how far it lies from that of the
/// simulated CTA.
struct MemberRun {
  int first_member = 0;
  int members = 1;
  Address distance;
  bool has_representative = false;  ///< the simulated CTA is one of them
};

/// The CTAs that share a slot number across a group of SMs: one is simulated, the others keep step with it.
struct SlotMembers {
  std::vector<ResidentCta> ctas;  ///< by SM of the group
  int representative = 0;         ///< index of the simulated one
};

/// Finds the runs of each memory operand once per set of CTAs.
class MemberAccesses {
 public:
  MemberAccesses(const trace::Trace& trace, const std::vector<trace::MemoryOperand>& operands, int cta_slots);

  void install(int slot, SlotMembers members);
  const SlotMembers& members(int slot) const { return slots_[static_cast<std::size_t>(slot)].members; }
  /// In order of the SMs; together they are all members of the slot.
  const std::vector<MemberRun>& runs(int slot, std::uint32_t operand);

 private:
  struct Slot {
    SlotMembers members;
    std::vector<std::vector<MemberRun>> runs;  ///< by operand; empty: not yet known
  };

  const trace::Trace& trace_;
  const std::vector<trace::MemoryOperand>& operands_;
  std::vector<Slot> slots_;
};

}  // namespace warpscope::sm
