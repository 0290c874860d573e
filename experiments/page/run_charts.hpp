// The charts of one run; all but the reference columns is counted.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <vector>

#include "experiments/page/chart.hpp"
#include "experiments/point/run.hpp"
#include "experiments/whatif/why.hpp"

namespace warpscope::experiments {

Chart traffic_chart(const Run& run);
Chart busy_chart(const Run& run);
/// Reasons for which no warp ever waited are left out.
Chart stall_chart(const Run& run);
Chart launch_chart(const Run& run);
/// Those that could not be simulated have no numbers.
Chart gain_chart(std::span<const Gain> gains);
/// See RunExtras::timeline.
Chart cta_chart(const nlohmann::json& timeline);
Chart warp_chart(const nlohmann::json& timeline);

}  // namespace warpscope::experiments
