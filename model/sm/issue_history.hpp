// What the last cycles of a sub-core's issue slot were used for, as bit masks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace warpscope::sm {

/// Bit i of a mask is the cycle `end - 1 - i`. Only stall accounting reads it, so it is not part of SmState.
struct IssueHistory {
  std::int32_t end = 0;         ///< first cycle not yet recorded
  std::int32_t hold_until = 0;  ///< a tensor instruction keeps the dispatch port until here
  std::uint64_t issued = 0;
  std::uint64_t held = 0;

  static constexpr std::int32_t kCycles = 64;

  /// Records idle or held cycles up to `to`.
  void advance(std::int32_t to) {
    const std::int32_t shift = to - end;
    if (shift <= 0) {
      return;
    }
    if (shift < kCycles) {
      const std::int32_t holds = std::clamp(hold_until - end, 0, shift);
      issued <<= shift;
      held = held << shift | low_bits(holds) << (shift - holds);
    } else {
      forget(to);
    }
    end = to;
  }
  /// An instruction issues in cycle `end` and holds the dispatch port for `hold` cycles.
  void issue(std::int32_t hold) {
    issued = issued << 1 | 1;
    held <<= 1;
    hold_until = end + hold;
    ++end;
  }
  /// Issued and held cycles among the last `window` ones; older ones are forgotten.
  int issued_in(std::int32_t window) const { return std::popcount(issued & low_bits(window)); }
  int held_in(std::int32_t window) const { return std::popcount(held & low_bits(window)); }

 private:
  /// Nothing recorded lies within the last cycles before `to` but what is still held.
  void forget(std::int32_t to) {
    const std::int32_t idle = std::max(0, to - std::max(hold_until, end));
    issued = 0;
    held = idle < kCycles && hold_until > end ? ~std::uint64_t{0} << idle : 0;
  }
  static std::uint64_t low_bits(std::int32_t count) {
    return count >= kCycles ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
};

}  // namespace warpscope::sm
