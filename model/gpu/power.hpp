// Power of the board, and the SM clock that its limit leaves. Energies of what launches execute come from
// micro-kernels (hwconfigs/*.toml, power.md of the reference data).
//
// The board lowers the clock until the mean power over about a second is at the limit, so that clock and
// power are those of launches that are repeated back to back, as benchmarks do. One launch of a few
// milliseconds on a cool board runs at the clock without limit.
#pragma once

#include "model/gpu/launch_counts.hpp"
#include "model/hw/hw_config.hpp"
#include "model/metrics/result.hpp"

namespace warpscope::gpu {

/// Of all that the launch executed and moved.
metrics::Energy launch_energy(const hw::Energy& energy, const LaunchCounts& counts);

/// Voltage as part of that at the highest clock, at `share` of that clock: a parabola that leaves (1, 1) with
/// the configured slope and has its vertex at the lowest voltage, below which it stays there.
double relative_voltage(const hw::Power& power, double share);

/// Sets clock and time of each launch, time and power of all, so that power is at most at the limit. Cycles
/// stay, as what is limited hardly waits for HBM, whose own clock stays. Does nothing where the limit is not
/// known.
void settle_clock(const hw::HwConfig& config, metrics::SimulationResult& result);

}  // namespace warpscope::gpu
