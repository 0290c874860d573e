// What the last cycles of a sub-core's issue slot were used for, as bit masks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace warpscope::sm {

/// Bit i of a mask is the cycle `last - i`. Only stall accounting reads it, so it is not part of SmState.
struct IssueHistory {
  std::int32_t last = -1;  ///< cycle of the last issue
  std::int32_t hold = 0;   ///< cycles behind it for which a tensor instruction keeps the dispatch port
  std::uint64_t issued = 0;
  std::uint64_t held = 0;

  static constexpr std::int32_t kCycles = 64;

  /// An instruction issues in cycle `time`, once the port is free, and takes it for `taken` cycles.
  void issue(std::int32_t time, std::int32_t taken) {
    const std::int32_t gap = time - last;
    if (gap < kCycles) {
      issued = issued << gap | 1;
      held = held << gap | ((std::uint64_t{1} << hold) - 1) << (gap - hold);
    } else {
      issued = 1;
      held = earlier(low_bits(hold), gap - hold);
    }
    last = time;
    hold = taken - 1;
  }
  /// Issued and held cycles among the last `window` ones before `end`, which lies behind the last issue;
  /// those more than kCycles back are forgotten.
  int issued_in(std::int32_t window, std::int32_t end) const {
    return std::popcount(issued_before(end) & low_bits(window));
  }
  int held_in(std::int32_t window, std::int32_t end) const {
    return std::popcount(held_before(end) & low_bits(window));
  }
  /// The same cycles as masks: bit i is the cycle `end - 1 - i`.
  std::uint64_t issued_before(std::int32_t end) const { return earlier(issued, end - 1 - last); }
  std::uint64_t held_before(std::int32_t end) const { return held_up_to(end - 1 - last); }

 private:
  /// Held cycles once `cycles` ones have passed since the last issue.
  std::uint64_t held_up_to(std::int32_t cycles) const {
    const std::int32_t holds = std::min(hold, cycles);
    return earlier(held, cycles) | earlier(low_bits(holds), cycles - holds);
  }
  static std::uint64_t earlier(std::uint64_t mask, std::int32_t cycles) {
    return cycles < kCycles ? mask << cycles : 0;
  }
  static std::uint64_t low_bits(std::int32_t count) {
    return count >= kCycles ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  }
};

}  // namespace warpscope::sm
