// A recorded timeline in Chrome's trace-event format, which Perfetto and chrome://tracing open.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "model/metrics/timeline_data.hpp"

namespace warpscope::experiments {

struct TimelineText {
  std::string json;
  std::vector<std::string> remarks;  ///< where it stops, if it does
};

/// What a timeline is of: "gpu", "kernel" and whatever else readers should know.
using TimelineFacts = std::vector<std::pair<std::string, std::string>>;

/// At most `most_bytes` of JSON, but for the names of its tracks. Where more was recorded, the latest events
/// are left out: those of warps first, CTAs and counters last; the file says so itself.
///
/// SMs are processes and their CTA slots threads. The recorded SM also has a thread for each warp, each pipe
/// of each sub-core, the data path, and the copies and barriers of each CTA slot.
TimelineText timeline_json(const metrics::TimelineData& data, const TimelineFacts& facts,
                           std::size_t most_bytes);

}  // namespace warpscope::experiments
