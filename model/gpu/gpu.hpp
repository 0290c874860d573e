// The top module: SMs, L2 and HBM bound to one another, and the launches that run on them.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "model/gpu/cta_dispatcher.hpp"
#include "model/gpu/simulate.hpp"
#include "model/gpu/wave_skipper.hpp"
#include "model/memory/hbm.hpp"
#include "model/memory/l2.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/sm.hpp"

namespace warpscope::gpu {

/// What a launch left in the counters of its units.
struct LaunchCounts {
  sim::Cycles cycles = 0;
  metrics::Occupancy occupancy;
  sm::SmCounters counters;             ///< sum over SMs
  std::uint64_t instructions = 0;      ///< executed by the kernel
  std::uint64_t stepped = 0;           ///< of these, stepped one by one
  std::uint64_t sm_active_cycles = 0;  ///< sum over SMs of cycles with a resident CTA
  double sm_clock_mhz = 0;
  std::vector<memory::L2Traffic> l2;    ///< by tensor
  std::vector<memory::HbmTraffic> hbm;  ///< by tensor
};

/// Runs one launch after another. A single SC_METHOD takes events from a queue with a total order: slices of
/// SMs and ends of CTAs.
class Gpu : public sc_core::sc_module {
 public:
  Gpu(const sc_core::sc_module_name& name, const hw::HwConfig& config, const trace::Trace& trace);
  ~Gpu() override;

  LaunchCounts run(const trace::Launch& launch, const SimulationOptions& options);

 private:
  struct Event {
    enum class Kind : std::uint8_t { cta_end, slice } kind = Kind::slice;
    int sm = 0;
  };
  struct LaunchState;

  void process_events();
  void run_slice(int sm, sim::Cycles now);
  void consider_skipping(sim::Cycles now);
  void add_skipped(LaunchCounts& counts) const;
  void dispatch(sim::Cycles slot_ready, sim::Cycles now);
  [[noreturn]] void report_deadlock(const sm::Sm& sm) const;

  const hw::HwConfig config_;
  const trace::Trace& trace_;
  memory::L2 l2_;
  memory::Hbm hbm_;
  std::vector<std::unique_ptr<sm::Sm>> sms_;
  sc_core::sc_event wake_;
  std::unique_ptr<LaunchState> launch_;
};

}  // namespace warpscope::gpu
