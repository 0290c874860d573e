// The one door to the GPU model: run a trace on a configuration.
#pragma once

#include "model/hw/hw_config.hpp"
#include "model/metrics/observer.hpp"
#include "model/metrics/result.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::gpu {

class LaunchMemo;  // model/gpu/launch_memo.hpp

enum class Mode { fast, detailed };

struct SimulationOptions {
  Mode mode = Mode::fast;
  bool warm_l2 = false;  ///< keep the L2 between launches; otherwise each launch starts cold
  int sm_groups = 0;     ///< fast mode: SMs that are simulated, each for a group of others; 0: default
  /// Detailed mode: is told what happens, of every launch, also where one repeats.
  metrics::Observer* observer = nullptr;
};

/// Runs all launches of `trace` one after another. Where each starts on a cold L2, nothing but its groups
/// depends on the others, and one that repeats is simulated once. Throws std::invalid_argument where a
/// launch does not fit the GPU or takes too long, or fast mode is to be watched, and DeadlockError
/// (model/gpu/deadlock.hpp) where no warp can make progress. Out of memory stays std::bad_alloc.
metrics::SimulationResult simulate(const hw::HwConfig& config, const trace::Trace& trace,
                                   const SimulationOptions& options = {});
/// The same, but launches that `memo` remembers are not simulated again. The result differs in nothing but
/// the number of instructions that were stepped.
metrics::SimulationResult simulate(const hw::HwConfig& config, const trace::Trace& trace,
                                   const SimulationOptions& options, LaunchMemo& memo);

}  // namespace warpscope::gpu
