// Which loops of a launch go through the same instructions.
#pragma once

#include "model/sm/decoded_launch.hpp"

namespace warpscope::sm {

/// Sets DecodedLoop::text: the first loop whose instructions take the same course, each at addresses of its
/// own.
void compare_loops(DecodedLaunch& launch);

}  // namespace warpscope::sm
