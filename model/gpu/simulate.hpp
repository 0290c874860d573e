// The one door to the GPU model: run a trace on a configuration.
#pragma once

#include <string>

#include "model/hw/hw_config.hpp"
#include "model/memory/memory_factory.hpp"
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
  int threads = 1;       ///< detailed mode: of the host; changes no number
  int window_divisor =
      1;  ///< detailed mode, for tests: windows so many times shorter; changes no number either
  bool reverse_sms = false;  ///< likewise: the order in which SMs are run
  /// Detailed mode: is told what happens, of every launch, also where one repeats.
  metrics::Observer* observer = nullptr;
  /// Detailed mode: makes the memory in place of L2 and HBM. All launches run on one, whatever it keeps
  /// between them.
  memory::MemoryFactory memory = nullptr;
  /// Detailed mode: file that signals of the GPU are traced to, of every launch, by sc_trace; its name ends
  /// in
  /// ".vcd". Empty: none.
  std::string vcd_file = {};
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
