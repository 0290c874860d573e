// Bandwidths: many CTAs that read, write, copy or reduce in place, side by side.
#pragma once

#include "tests/validation/microbenchmarks.hpp"

namespace warpscope::validation {

/// A row of group `stream`: name read, write, copy or red; other = SMs; n = MiB that are swept. The value is
/// in GB/s, or in 1e9 reductions of a float per second. Throws std::invalid_argument for another name.
Microbenchmark stream(const MeasuredRow& row);

}  // namespace warpscope::validation
