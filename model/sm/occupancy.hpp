// How many CTAs of a launch fit on one SM at a time.
#pragma once

#include "model/hw/hw_config.hpp"
#include "model/metrics/result.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::sm {

/// CTAs per SM by each resource, with the hardware's allocation granularity: registers per warp in units of
/// `register_allocation_unit` out of each sub-core's share, shared memory in units of `allocation_bytes` plus
/// what the driver reserves. Throws std::invalid_argument where not even one CTA fits, naming resource, need
/// and limit.
metrics::Occupancy occupancy(const hw::HwConfig& config, const trace::Launch& launch);

}  // namespace warpscope::sm
