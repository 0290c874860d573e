// The charts of one run; all but the reference columns is counted.
#pragma once

#include <span>
#include <vector>

#include "experiments/page/chart.hpp"
#include "experiments/point/run.hpp"
#include "experiments/whatif/why.hpp"
#include "model/metrics/timeline_data.hpp"

namespace warpscope::experiments {

Chart traffic_chart(const Run& run);
Chart busy_chart(const Run& run);
/// Reasons for which no warp ever waited are left out.
Chart stall_chart(const Run& run);
Chart launch_chart(const Run& run);
/// Those that could not be simulated have no numbers.
Chart gain_chart(std::span<const Gain> gains);
/// CTAs by SM and slot; of so many SMs, at even distances, as a page can hold.
Chart cta_chart(const metrics::TimelineData& timeline);
/// A few iterations in the middle of what was recorded of one SM.
Chart warp_chart(const metrics::TimelineData& timeline);

}  // namespace warpscope::experiments
