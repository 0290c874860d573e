// One launch of a trace apart from the others.
#pragma once

#include <cstddef>
#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::gpu {

/// A launch with the tensors that it names and no others. On a cold L2 it does what it does there, so that
/// where a tensor lies in memory does not depend on what other launches use.
struct LoneLaunch {
  trace::Trace trace;                ///< of this launch alone
  std::vector<std::size_t> tensors;  ///< what number each of its tensors has in the trace it comes from
};

LoneLaunch alone(const trace::Trace& trace, const trace::Launch& launch);

}  // namespace warpscope::gpu
