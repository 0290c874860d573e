// SMs that do as one of them does: what the others ask of the memory system.
#pragma once

#include <cstdint>
#include <vector>

#include "model/engine/sm_unit.hpp"
#include "model/fast/access_batch.hpp"
#include "model/fast/demand.hpp"
#include "model/fast/member_accesses.hpp"
#include "model/gpu/sm_group.hpp"
#include "model/memory/memory_system.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/decoded_launch.hpp"
#include "model/sm/sent_request.hpp"

namespace warpscope::fast {

/// So long spilled registers surely stay in the L2 when nobody uses them: HBM at its fastest brings half to
/// three quarters of what an L2 holds meanwhile.
inline constexpr sim::Cycles kSpillsStayCycles = 16 * memory::kBackgroundCycles;

/// Stands between an SM that is simulated and the memory system, and makes the SM's requests those of its
/// whole group: each other SM makes them at the addresses of its own CTA.
class Echo : public engine::RequestTap {
 public:
  /// All arguments must outlive it.
  Echo(const trace::Trace& trace, const sm::DecodedLaunch& decoded, int cta_slots, const gpu::SmGroup& group,
       const hw::L2& l2);

  void install(int slot, SlotMembers members);
  /// CTAs that the one in `slot` stands for, itself included.
  int members(int slot) const { return static_cast<int>(members_.members(slot).ctas.size()); }
  MemberAccesses& accesses() { return members_; }
  /// Completes the SM's own access and keeps in mind what the others ask for.
  void repeat(const sm::MemoryRequest& request, memory::Access& own) override;
  /// An access that nobody waits for, also of the simulated SM: in iterations that are not executed.
  void add(const JoinedAccess& access) { all_.add(access); }
  /// Makes the accesses of the others that have been gathered.
  void release(sim::Cycles now, memory::MemorySystem& memory);
  const std::vector<Demand>& demand() const { return demand_; }

 private:
  void gather();
  void append(const JoinedAccess& access, bool with_own);
  void append(const JoinedAccess& access, const MemberRun& run);

  const trace::Trace& trace_;
  const sm::DecodedLaunch& decoded_;
  gpu::SmGroup group_;
  MemberAccesses members_;
  AccessBatch others_;                   ///< asked for in this window by all but the simulated SM
  AccessBatch all_;                      ///< likewise by all
  std::vector<memory::Access> waiting_;  ///< for the end of the window
  std::vector<Demand> demand_;           ///< by tensor
};

}  // namespace warpscope::fast
