#include "model/gpu/simulate.hpp"

#include <algorithm>
#include <utility>

#include "model/gpu/gpu.hpp"
#include "model/gpu/launch_memo.hpp"
#include "model/gpu/launch_metrics.hpp"
#include "model/hw/config_loader.hpp"
#include "model/sim/simulation_context.hpp"

namespace warpscope::gpu {
namespace {

/// Runs launch number `index` on `gpu`.
LaunchOutcome run_launch(Gpu& gpu, const hw::HwConfig& config, const trace::Trace& trace, std::size_t index) {
  const LaunchCounts counts = gpu.run(index);
  return {launch_result(config, trace, trace.launches[index], counts), counts.instructions, counts.stepped};
}

/// What was remembered of a launch, as a launch of `trace`: no byte of tensors behind those that it names
/// moved.
LaunchOutcome recall(LaunchOutcome outcome, const trace::Trace& trace) {
  outcome.stepped = 0;
  outcome.result.traffic.resize(trace.tensors.size());
  for (std::size_t t = 0; t < trace.tensors.size(); ++t) {
    outcome.result.traffic[t].tensor = trace.tensors[t].name;
  }
  return outcome;
}

/// `run_or_recall(gpu, index)` is what came of each launch.
template <typename RunOrRecall>
metrics::SimulationResult simulate_launches(const hw::HwConfig& config, const trace::Trace& trace,
                                            const SimulationOptions& options,
                                            const RunOrRecall& run_or_recall) {
  sim::SimulationContext context;
  Gpu gpu("gpu", config, trace, options);
  metrics::SimulationResult result;
  for (std::size_t i = 0; i < trace.launches.size(); ++i) {
    LaunchOutcome launch = run_or_recall(gpu, i);
    result.cycles += launch.result.cycles;
    result.time_us += launch.result.time_us;
    result.warp_instructions_total += launch.instructions;
    result.warp_instructions_executed += launch.stepped;
    result.launches.push_back(std::move(launch.result));
  }
  if (!trace.launches.empty()) {
    // The measured overhead of a launch behind another contains the boundary that each launch counts already.
    const double boundary_us = config.launch.boundary_cycles / static_cast<double>(config.clock.max_mhz);
    result.time_us += std::max(0.0, config.launch.overhead_us - boundary_us) *
                      static_cast<double>(trace.launches.size() - 1);
  }
  return result;
}

}  // namespace

metrics::SimulationResult simulate(const hw::HwConfig& config, const trace::Trace& trace,
                                   const SimulationOptions& options) {
  return simulate_launches(config, trace, options,
                           [&](Gpu& gpu, std::size_t i) { return run_launch(gpu, config, trace, i); });
}

metrics::SimulationResult simulate(const hw::HwConfig& config, const trace::Trace& trace,
                                   const SimulationOptions& options, LaunchMemo& memo) {
  if (options.warm_l2) {
    // What a launch does then depends on those before it.
    return simulate(config, trace, options);
  }
  const std::string hash = hw::content_hash(config);
  return simulate_launches(config, trace, options, [&](Gpu& gpu, std::size_t i) {
    LaunchCase launch = launch_case(hash, options.mode, gpu.groups(i), trace, trace.launches[i]);
    if (const LaunchOutcome* known = memo.find(launch)) {
      return recall(*known, trace);
    }
    LaunchOutcome outcome = run_launch(gpu, config, trace, i);
    memo.keep(std::move(launch), outcome);
    return outcome;
  });
}

}  // namespace warpscope::gpu
