// From counters to the metrics a profiler would show.
#pragma once

#include "model/gpu/launch_counts.hpp"
#include "model/metrics/result.hpp"

namespace warpscope::gpu {

/// Metrics of one launch under Nsight Compute's names, stalls and traffic by tensor.
metrics::LaunchResult launch_result(const hw::HwConfig& config, const trace::Trace& trace,
                                    const trace::Launch& launch, const LaunchCounts& counts);

/// Time between a launch and the one behind it in a stream, beyond what each launch counts as its own.
double launch_gap_us(const hw::HwConfig& config);

}  // namespace warpscope::gpu
