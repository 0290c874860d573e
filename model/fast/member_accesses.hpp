// Which addresses the SMs of a group access while one of them is simulated.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_set>
#include <vector>

#include "model/gpu/sm_group.hpp"
#include "model/hw/hw_config.hpp"
#include "model/sm/address.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::fast {

/// SMs of a group whose CTAs access the same address, and how far it lies from that of the simulated CTA.
struct MemberRun {
  sm::Address distance;
  std::uint32_t members = 0;
  std::uint32_t partitions = 0;  ///< of the L2 that these SMs belong to, a bit mask
};

/// All members of a slot by where they access what the simulated CTA accesses.
struct MemberRuns {
  MemberRun own;  ///< of the simulated CTA and those that access the same
  std::vector<MemberRun> others;
  std::uint32_t members = 0;  ///< of all of them; 0: not yet known
  std::uint32_t number = 0;   ///< unlike that of all others
  bool whole_sectors = true;  ///< the distances are multiples of a sector
};

/// The CTAs that share a slot number across a group of SMs: one is simulated, the others keep step with it,
/// but for the order in which CTAs start on a chip.
struct SlotMembers {
  std::vector<sm::ResidentCta> ctas;  ///< by SM of the group
  int representative = 0;             ///< index of the simulated one
  std::int32_t apart_cycles = 0;      ///< between the starts of two that follow one another
};

/// Finds the runs of memory operands once per set of CTAs. Operands whose addresses depend alike on the CTA
/// share them.
class MemberAccesses {
 public:
  /// For a group before this L2.
  MemberAccesses(const trace::Trace& trace, const std::vector<trace::MemoryOperand>& operands, int cta_slots,
                 const gpu::SmGroup& group, const hw::L2& l2);

  void install(int slot, SlotMembers members);
  /// Spilled registers count as not yet accessed.
  void forget_spills();
  const SlotMembers& members(int slot) const { return slots_[static_cast<std::size_t>(slot)].members; }
  /// Together they are all members of the slot; `offset` is that of the access, `turn` the iteration of the
  /// outermost loop. Spilled registers are written and read again and again: until forget_spills() each SM's
  /// own are looked up once, later all count as one run.
  const MemberRuns& runs(int slot, std::uint32_t operand, std::int64_t offset, std::uint32_t turn = 0);

 private:
  struct Slot {
    SlotMembers members;
    std::vector<std::deque<MemberRuns>>
        runs;  ///< by kind of operand; by turn where a table tells its address
    MemberRuns spilled_again;
    std::unordered_set<std::int64_t> spilled;  ///< offsets of the spilled registers that have been accessed
  };

  bool is_local(const trace::MemoryOperand& operand) const;
  MemberRuns unknown_runs();
  void find_runs(const Slot& slot, const trace::MemoryOperand& operand, std::uint32_t turn,
                 MemberRuns& runs) const;

  const trace::Trace& trace_;
  const std::vector<trace::MemoryOperand>& operands_;
  std::vector<std::uint32_t> kind_of_operand_;  ///< equal where addresses depend alike on the CTA
  gpu::SmGroup group_;
  hw::L2 l2_;
  std::vector<Slot> slots_;
  std::uint32_t numbers_ = 0;  ///< given to runs so far
};

}  // namespace warpscope::fast
