// The GPU as a SystemC module: its time is that of the kernel.
#pragma once

#include <exception>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "model/engine/engine.hpp"
#include "model/gpu/chip_modules.hpp"
#include "model/sim/sm_clock.hpp"

namespace warpscope::gpu {

/// Runs one launch after another in a SimulationContext of its own. The engine knows nothing of SystemC: the
/// one method of this module lets it run a window at the time at which the window begins, and comes back when
/// the next one does. Engine cycle n of a launch is at n / (SM clock) from its begin, to the femtosecond.
class Chip : public sc_core::sc_module {
 public:
  /// With a `vcd_file`, whose name ends in ".vcd", all modules are traced to it.
  Chip(const sc_core::sc_module_name& name, const hw::HwConfig& config, const std::string& vcd_file = {});
  ~Chip() override;

  /// A launch begins: now, or, behind another one, after the gap between two launches.
  void begin_launch(double sm_clock_mhz);
  /// Runs the engine of this launch to its end. Throws what the engine throws.
  void run(engine::Engine& engine);
  /// The launch has taken so many cycles; time goes on to there.
  void end_launch(sim::Cycles cycles);

 private:
  struct CloseTrace {
    void operator()(sc_core::sc_trace_file* file) const { sc_core::sc_close_vcd_trace_file(file); }
  };
  void step();
  void advance();
  void show_window(sim::Cycles begin);
  void show_idle();
  void run_on_to(const sc_core::sc_time& time);

  sc_core::sc_event begin_;
  std::vector<std::unique_ptr<SmModule>> sms_;
  DispatcherModule dispatcher_;
  L2Module l2_;
  HbmModule hbm_;
  std::unique_ptr<sc_core::sc_trace_file, CloseTrace> trace_;
  sc_core::sc_time gap_;
  sc_core::sc_time end_;  ///< of the last launch
  sim::SmClock clock_;
  engine::Engine* engine_ = nullptr;
  bool ran_before_ = false;
  bool is_idle_ = false;        ///< up to the next window of the engine
  sim::Cycles window_end_ = 0;  ///< of the last one
  metrics::MovedBytes moved_;   ///< up to here, in this launch
  std::exception_ptr failure_;
};

}  // namespace warpscope::gpu
