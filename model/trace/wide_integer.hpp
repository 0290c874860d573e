// An integer that holds any product of two 64-bit ones.
#pragma once

namespace warpscope::trace {

__extension__ using Int128 = __int128;

}  // namespace warpscope::trace
