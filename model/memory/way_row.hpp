// 16 ways of a set: what finds them and the order in which they were used, all compared at once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace warpscope::memory {

inline constexpr std::uint32_t kRowWays = 16;

/// Ages in a set are bytes.
inline constexpr int kMostWays = 256;

/// A byte for each way.
using WayBytes [[gnu::vector_size(kRowWays)]] = std::uint8_t;

/// The lowest bit of each byte, next to each other.
inline std::uint32_t gathered_bits(const WayBytes& bytes) {
  const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(bytes);
  const auto gather = [](std::uint64_t word) {
    // Byte i moves up to the highest one and there to bit i; no two bits meet on the way.
    return static_cast<std::uint32_t>((word & 0x0101010101010101ULL) * 0x0102040810204080ULL >> 56);
  };
  return gather(words[0]) | gather(words[1]) << 8;
}

/// Bytes that are not zero, but all ones, as bits.
inline std::uint32_t set_ways(const WayBytes& bytes) {
#ifdef __SSE2__
  return static_cast<std::uint32_t>(_mm_movemask_epi8(std::bit_cast<__m128i>(bytes)));
#else
  return gathered_bits(bytes);
#endif
}

/// A set of more than kRowWays has several.
struct WayRow {
  WayBytes tags{};
  WayBytes ages{};  ///< how many ways of the set, in all its rows, were used since

  /// Ways whose tag equals that which `tag` repeats, as bits.
  std::uint32_t ways_with(const WayBytes& tag) const {
    return set_ways(std::bit_cast<WayBytes>(tags == tag));
  }
  /// Ways of this age, as bits.
  std::uint32_t ways_aged(std::uint8_t age) const { return set_ways(std::bit_cast<WayBytes>(ages == age)); }
  /// A way of another row, `age` old, is used: all that were younger become one older.
  void pass(std::uint8_t age) { ages -= younger_than(age); }
  /// A way of this row is used.
  void use(std::uint32_t way) {
    constexpr WayBytes kWays = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    const auto others = std::bit_cast<WayBytes>(kWays != static_cast<std::uint8_t>(way));
    // Stored as a whole: if only a part were, the next access of the set would wait for it.
    ages = (ages - younger_than(ages[way])) & others;
  }

 private:
  /// Minus one for each way that is.
  WayBytes younger_than(std::uint8_t age) const { return std::bit_cast<WayBytes>(ages < age); }
};

}  // namespace warpscope::memory
