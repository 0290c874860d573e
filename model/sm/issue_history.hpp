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
    const std::int32_t holds = std::clamp(hold_until - end, 0, shift);
    issued = shift < kCycles ? issued << shift : 0;
    held = shift < kCycles ? held << shift : 0;
    if (holds > 0 && shift - holds < kCycles) {
      held |= low_bits(holds) << (shift - holds);
    }
    end = to;
  }
  /// An instruction issues in cycle `end` and holds the dispatch port for `hold` cycles.
  void issue(std::int32_t hold) {
    advance(end + 1);
    issued |= 1;
    held &= ~std::uint64_t{1};
    hold_until = end - 1 + hold;
  }
  /// Issued and held cycles among the last `window` ones; older ones are forgotten.
  int issued_in(std::int32_t window) const { return std::popcount(issued & low_bits(window)); }
  int held_in(std::int32_t window) const { return std::popcount(held & low_bits(window)); }

 private:
  static std::uint64_t low_bits(std::int32_t count) {
    return count >= kCycles ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
};

}  // namespace warpscope::sm
