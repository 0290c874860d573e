// The top module: SMs, L2 and HBM bound to one another, and the launches that run on them.
#pragma once

#include <memory>
#include <systemc>
#include <vector>

#include "model/gpu/cta_dispatcher.hpp"
#include "model/gpu/launch_counts.hpp"
#include "model/gpu/simulate.hpp"
#include "model/gpu/sm_group.hpp"
#include "model/gpu/wave_skipper.hpp"
#include "model/memory/hbm.hpp"
#include "model/memory/l2.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/sm.hpp"

namespace warpscope::gpu {

/// Runs one launch after another. A single SC_METHOD takes events from a queue with a total order: slices of
/// SMs and ends of CTAs.
class Gpu : public sc_core::sc_module {
 public:
  Gpu(const sc_core::sc_module_name& name, const hw::HwConfig& config, const trace::Trace& trace,
      const SimulationOptions& options, std::vector<std::vector<SmGroup>> groups_of_launches);
  ~Gpu() override;

  /// Launch number `index` of the trace.
  LaunchCounts run(std::size_t index);

 private:
  struct Event {
    enum class Kind : std::uint8_t { cta_end, slice } kind = Kind::slice;
    int group = 0;
    int ctas = 0;  ///< that end
  };
  struct LaunchState;

  void process_events();
  void run_slice(int group, sim::Cycles now);
  void end_ctas(int group, int ctas, sim::Cycles now);
  /// What has been counted up to `now`.
  Progress progress(sim::Cycles now) const;
  void consider_skipping(sim::Cycles now);
  /// The same for the paths of the CTAs, once a window of `sm` has ended.
  void consider_paths(int group, sim::Cycles now);
  sm::SlotMembers members_of(const Dispatch& dispatch) const;
  sm::SmCounters counters() const;
  /// What has moved in this launch so far.
  metrics::MovedBytes moved() const;
  void tell_begin(double sm_clock_mhz, int cta_slots) const;
  void dispatch(sim::Cycles slot_ready, sim::Cycles now);
  [[noreturn]] void report_deadlock(const sm::Sm& sm) const;

  const hw::HwConfig config_;
  const trace::Trace& trace_;
  const SimulationOptions options_;
  const std::vector<std::vector<SmGroup>> groups_;  ///< by launch
  memory::L2 l2_;
  memory::Hbm hbm_;
  std::vector<std::unique_ptr<sm::Sm>> sms_;  ///< by group; as many as the launch with most groups has
  sc_core::sc_event wake_;
  std::unique_ptr<LaunchState> launch_;
};

}  // namespace warpscope::gpu
