// Chance that is the same in every run.
#pragma once

#include <cstdint>

namespace warpscope {

/// Numbers that follow one another spread evenly over 32 bits (Fibonacci hashing: 2^64 over the golden
/// ratio).
constexpr std::uint64_t spread_hash(std::uint64_t number) {
  return (number * 0x9e3779b97f4a7c15ULL) >> 32;
}

/// 32 bits by chance, also for numbers a fixed distance apart (the mixing of SplitMix64).
constexpr std::uint64_t chance_hash(std::uint64_t number) {
  std::uint64_t mixed = (number ^ number >> 30) * 0xbf58476d1ce4e5b9ULL;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111ebULL;
  return mixed >> 32;
}

}  // namespace warpscope
