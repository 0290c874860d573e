// The SM clock of a launch.
#pragma once

#include "model/hw/hw_config.hpp"
#include "model/trace/statistics.hpp"

namespace warpscope::gpu {

/// In MHz: lower where the launch uses the tensor pipe.
inline double launch_clock_mhz(const hw::HwConfig& config, const trace::Launch& launch) {
  return trace::uses_tensor_pipe(launch) ? config.clock.tensor_mhz : config.clock.max_mhz;
}

}  // namespace warpscope::gpu
