// One SystemC simulation. SystemC keeps its kernel in globals; this object gives a simulation a kernel of its
// own, so that many can follow one another in a process.
#pragma once

#include <systemc>

namespace warpscope::sim {

/// Installs a fresh SystemC kernel and removes it again. Modules must be destroyed before it. Contexts may
/// follow one another but never overlap. The kernel made at library load is never deleted: static events
/// refer to it.
class SimulationContext {
 public:
  SimulationContext()
      : previous_(sc_core::sc_curr_simcontext), previous_default_(sc_core::sc_default_global_context) {
    sc_core::sc_curr_simcontext = sc_core::sc_default_global_context = new sc_core::sc_simcontext;
  }
  ~SimulationContext() {
    delete sc_core::sc_curr_simcontext;
    sc_core::sc_curr_simcontext = previous_;
    sc_core::sc_default_global_context = previous_default_;
  }
  SimulationContext(const SimulationContext&) = delete;
  SimulationContext& operator=(const SimulationContext&) = delete;

 private:
  sc_core::sc_simcontext* previous_;
  sc_core::sc_simcontext* previous_default_;
};

}  // namespace warpscope::sim
