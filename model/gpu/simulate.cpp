#include "model/gpu/simulate.hpp"

#include <algorithm>

#include "model/gpu/gpu.hpp"
#include "model/gpu/launch_metrics.hpp"
#include "model/sim/simulation_context.hpp"

namespace warpscope::gpu {

metrics::SimulationResult simulate(const hw::HwConfig& config, const trace::Trace& trace,
                                   const SimulationOptions& options) {
  sim::SimulationContext context;
  Gpu gpu("gpu", config, trace, options);
  metrics::SimulationResult result;
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    const LaunchCounts counts = gpu.run(i);
    result.launches.push_back(launch_result(config, trace, trace.launches[i], counts));
    result.cycles += counts.cycles;
    result.time_us += result.launches.back().time_us;
    result.warp_instructions_total += counts.instructions;
    result.warp_instructions_executed += counts.stepped;
  }
  if (!trace.launches.empty()) {
    // The measured overhead of a launch behind another contains the boundary that each launch counts already.
    const double boundary_us = config.launch.boundary_cycles / static_cast<double>(config.clock.max_mhz);
    result.time_us += std::max(0.0, config.launch.overhead_us - boundary_us) *
                      static_cast<double>(trace.launches.size() - 1);
  }
  return result;
}

}  // namespace warpscope::gpu
