// CTAs on SMs that are not simulated and keep step with none: what they read and write, and when.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "model/fast/cta_outline.hpp"
#include "model/fast/demand.hpp"
#include "model/hw/hw_config.hpp"
#include "model/memory/memory_system.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/address.hpp"
#include "model/sm/loop_counters.hpp"

namespace warpscope::fast {

/// A place for a CTA that has become free.
struct FreeSlot {
  int sm = 0;
  int slot = 0;
  double for_instructions = 0;  ///< so long ago, in instructions of a CTA
};

/// These CTAs go on at the pace of those that are simulated, so their time is counted in instructions of one
/// CTA.
class UnsimulatedCtas {
 public:
  /// Nothing where the CTAs of some class have no outline. The trace must outlive it.
  static std::optional<UnsimulatedCtas> of(const hw::HwConfig& config, const trace::Trace& trace,
                                           const trace::Launch& launch, int cta_slots);

  /// Simulated CTAs have executed so many instructions, in a time that is summed over them.
  void observe(double instructions, double cta_cycles);
  /// CTA number `cta` of the grid takes the slot.
  void begin(std::uint64_t cta, const FreeSlot& slot);
  /// Makes the accesses of all CTAs until `now`. Returns the slots of those that have ended, in the order in
  /// which they have.
  std::vector<FreeSlot> advance(sim::Cycles now, memory::MemorySystem& memory);
  /// Makes all accesses that are left.
  void finish(sim::Cycles now, memory::MemorySystem& memory);
  const std::vector<Demand>& demand() const { return demand_; }  ///< by tensor

 private:
  struct Cta {
    sm::ResidentCta cta;
    const CtaOutline* outline = nullptr;
    FreeSlot place;
    double next = 0;  ///< when the next step begins
    std::size_t step = 0;
    sm::LoopCounters loops;
    bool spills = true;       ///< accesses spilled registers in this iteration of an outermost loop
    sim::Cycles spilled = 0;  ///< did so last
  };

  UnsimulatedCtas(const trace::Trace& trace, const trace::Launch& launch, sm::DecodedLaunch decoded,
                  int cta_slots);
  /// Until now_ or its end; whether it has come to that.
  bool ends(Cta& cta, sim::Cycles now);
  void access(const Cta& cta, const OutlineAccess& access);

  const trace::Trace* trace_;
  const trace::Launch* launch_;
  sm::DecodedLaunch decoded_;
  int cta_slots_;
  std::map<std::vector<std::uint16_t>, CtaOutline> outlines_;  ///< by the programs of the warps
  double observed_instructions_ = 0;                           ///< since the last advance
  double observed_cycles_ = 0;
  sim::Cycles advanced_ = 0;  ///< time of the last advance
  double now_ = 0;
  std::vector<Cta> ctas_;
  std::vector<memory::Access> due_;
  std::vector<Demand> demand_;
};

}  // namespace warpscope::fast
