// Tags of 16 ways of a set, compared all at once.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace warpscope::memory {

inline constexpr std::uint32_t kRowWays = 16;

using WayTags [[gnu::vector_size(kRowWays)]] = std::uint8_t;

/// The lowest bit of each byte, next to each other.
inline std::uint32_t gathered_bits(const WayTags& bytes) {
  const auto words = std::bit_cast<std::array<std::uint64_t, 2>>(bytes);
  const auto gather = [](std::uint64_t word) {
    // Byte i moves up to the highest one and there to bit i; no two bits meet on the way.
    return static_cast<std::uint32_t>((word & 0x0101010101010101ULL) * 0x0102040810204080ULL >> 56);
  };
  return gather(words[0]) | gather(words[1]) << 8;
}

/// Ways whose tag equals `tag`, as bits.
inline std::uint32_t ways_with(const WayTags& tags, std::uint8_t tag) {
  const WayTags equal = std::bit_cast<WayTags>(tags == tag);
#ifdef __SSE2__
  return static_cast<std::uint32_t>(_mm_movemask_epi8(std::bit_cast<__m128i>(equal)));
#else
  return gathered_bits(equal);
#endif
}

}  // namespace warpscope::memory
