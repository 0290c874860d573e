// Numbers at which programs turn out wrong.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/unit/trace_random.hpp"

namespace warpscope::fuzz {

/// Mostly small numbers, sometimes those at which things turn.
inline std::int64_t odd_number(trace::Random& random) {
  switch (random.between(0, 5)) {
    case 0:
      return (std::int64_t{1} << random.between(0, 62)) + random.between(-1, 1);
    case 1:
      return random.one_in(2) ? std::numeric_limits<std::int64_t>::max() - random.between(0, 1)
                              : std::numeric_limits<std::int64_t>::min() + random.between(0, 1);
    case 2:
      return random.between(-4096, 4096);
    default:
      return random.between(0, 8);
  }
}

/// Within [least, most].
template <typename T>
T odd(trace::Random& random, std::int64_t least, std::int64_t most) {
  const std::int64_t number = random.one_in(2) ? odd_number(random) : random.between(least, most);
  return static_cast<T>(std::clamp(number, least, most));
}

/// Any of them; there must be one.
template <typename T>
T& pick(std::vector<T>& values, trace::Random& random) {
  return values[static_cast<std::size_t>(random.between(0, std::ssize(values) - 1))];
}

}  // namespace warpscope::fuzz
