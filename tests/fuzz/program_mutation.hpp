// Small changes to warp programs.
#pragma once

#include <cstddef>

#include "tests/unit/trace_random.hpp"

namespace warpscope::fuzz {

/// Changes, adds or takes away an instruction or a loop; `tensors` is how many the trace has. The result may
/// break a rule.
void change_program(trace::WarpProgram& program, std::size_t tensors, trace::Random& random);

}  // namespace warpscope::fuzz
