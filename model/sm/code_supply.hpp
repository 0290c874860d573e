// What an SM knows, between two exchanges, of the code that lies outside of it.
#pragma once

#include <cstdint>
#include <vector>

namespace warpscope::sm {

/// Times are cycles of the launch.
struct CodeSupply {
  std::int64_t path_free = 0;  ///< the lines that all SMs have asked for have come by then
  /// From when on the L2 has a line; before that it comes from the memory.
  std::vector<std::int64_t> in_l2;
};

/// A line of code that an SM has asked for, in cycles from the SM's origin.
struct LineRequest {
  std::int32_t time = 0;
  std::int32_t arrival = 0;
  std::uint32_t line = 0;
  bool from_memory = false;
};

}  // namespace warpscope::sm
