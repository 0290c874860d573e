// Small changes to traces that leave them valid, so that a fuzzer gets past the reader.
#pragma once

#include "tests/unit/trace_random.hpp"

namespace warpscope::fuzz {

/// `trace` with a few random changes: other opcodes, operands, loops, trips, shapes, classes, tensors. Where
/// they break a rule they are tried anew, and in the end left out.
trace::Trace mutated(const trace::Trace& trace, trace::Random& random);

}  // namespace warpscope::fuzz
