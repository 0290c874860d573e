// The loops of microbenchmarks as they were compiled, where their machine code is recorded.
#pragma once

#include "tests/validation/microbenchmarks.hpp"

namespace warpscope::validation {

/// The launch in data/microbenchmark_loops.trace whose programs are the row's loops, of a pair the first
/// role's and the second's; nullptr if there is none. It is named by group, name, other and n of the row.
const trace::Launch* find_compiled_loop(const MeasuredRow& row);

/// The same. Throws std::invalid_argument if there is none.
const trace::Launch& compiled_loop(const MeasuredRow& row);

}  // namespace warpscope::validation
