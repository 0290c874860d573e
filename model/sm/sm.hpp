// A streaming multiprocessor as a SystemC module: SmCore behind a TLM socket.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <memory>
#include <systemc>
#include <tlm>

#include "model/memory/transaction.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/slice_memo.hpp"
#include "model/sm/sm_core.hpp"

namespace warpscope::sm {

/// Runs slices of its core ahead of the simulation's clock and sends their memory requests through
/// `memory_side`, stamped with the time at which they were made (temporal decoupling).
class Sm : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Sm> memory_side;

  Sm(const sc_core::sc_module_name& name, int sm_index);
  ~Sm() override;

  /// Prepares for a launch. `memo` may be null: then every slice is executed.
  void begin_launch(const hw::HwConfig& config, const trace::Trace& trace, const trace::Launch& launch,
                    const DecodedLaunch& decoded, int cta_slots, SliceMemo* memo);
  void install(int slot, const ResidentCta& cta, sim::Cycles start, sim::Cycles now);
  /// Runs the slice that starts at `now`.
  Slice run_slice(sim::Cycles now);

  SmCore& core() { return *core_; }
  const SmCore& core() const { return *core_; }
  int index() const { return sm_index_; }
  std::uint64_t executed() const { return executed_; }

 private:
  memory::Response send(const MemoryRequest& request, std::int32_t time);

  int sm_index_;
  std::unique_ptr<SmCore> core_;
  SliceMemo* memo_ = nullptr;
  sim::Cycles slice_start_ = 0;
  std::uint64_t executed_ = 0;
  MemoryPort port_;
  tlm::tlm_generic_payload payload_;
  memory::Transaction transaction_;
};

}  // namespace warpscope::sm
