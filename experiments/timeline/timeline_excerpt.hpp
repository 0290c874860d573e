// The part of a timeline that a page can show.
#pragma once

#include <nlohmann/json.hpp>

#include "model/metrics/timeline_data.hpp"

namespace warpscope::experiments {

/// {sms: [{sm, ctas: [{cta, start_cycles, end_cycles}]}],
///  warps: [{subcore, warp, spans: [{start_cycles, end_cycles, state}]}]}
///
/// CTAs of all SMs, or of SMs at equal distances where there are more than a few thousand CTAs; warps of the
/// recorded SM from the middle of what was recorded on, for a few thousand spans: some iterations of a loop.
nlohmann::json timeline_excerpt(const metrics::TimelineData& data);

}  // namespace warpscope::experiments
