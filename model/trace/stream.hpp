// Several traces as one stream.
#pragma once

#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::trace {

/// The launches of all traces, one trace after the other. Tensors of one name are one tensor, of the kind
/// that the first trace gives it; local ones grow to the largest. Throws std::logic_error where others of one
/// name differ in size.
Trace in_one_stream(std::vector<Trace> traces);

}  // namespace warpscope::trace
