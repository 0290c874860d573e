// What the issue loop tests first, found out once for all instructions of a launch.
#pragma once

#include "model/sm/decoded_launch.hpp"

namespace warpscope::sm {

/// Gives branches that jump over code the class of the BSYNC that they jump to.
void find_jumps(DecodedLaunch& launch);

/// Sets `reach` and `waits` of all instructions. Needs their lines.
void find_short_ways(DecodedLaunch& launch);

}  // namespace warpscope::sm
