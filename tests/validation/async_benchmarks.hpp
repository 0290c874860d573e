// Microbenchmarks of Hopper's asynchronous units.
#pragma once

#include "tests/validation/microbenchmarks.hpp"

namespace warpscope::validation {

/// n products of warpgroups (name: columns, other: where A is, SS or RS) in a group that each warp waits for,
/// cycles per group and warpgroup.
Microbenchmark wgmma(const MeasuredRow& row);
/// One copy of a box of n bytes per CTA, all from L2, from its issue until the data is there; other: CTAs.
Microbenchmark bulk(const MeasuredRow& row);

}  // namespace warpscope::validation
