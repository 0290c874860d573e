// Chance that is the same in every run.
#pragma once

#include <cstdint>

namespace warpscope {

/// Numbers that follow one another spread evenly over 32 bits (Fibonacci hashing: 2^64 over the golden
/// ratio).
constexpr std::uint64_t spread_hash(std::uint64_t number) {
  return (number * 0x9e3779b97f4a7c15ULL) >> 32;
}

}  // namespace warpscope
