// What the last cycles of a sub-core's issue slot were used for, as bit masks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace warpscope::sm {

/// Bit i of a mask is the cycle `end - 1 - i`. Only stall accounting reads it, so it is not part of SmState.
struct IssueHistory {
  std::int32_t end = 0;  ///< it has come so far: past the hold of the last instruction
  std::uint64_t issued = 0;
  std::uint64_t held = 0;

  /// As far back as anyone asks: one less than there are bits, so that all of them can be shifted out.
  static constexpr std::int32_t kCycles = 63;

  /// Nothing issues between `end` and `time`, which does not come before it.
  void go_on_to(std::int32_t time) {
    const std::int32_t gap = std::min(time - end, kCycles);
    issued <<= gap;
    held <<= gap;
    end = time;
  }
  /// An instruction issues in cycle `time`, where the port is free, and takes it for `taken` cycles.
  void issue(std::int32_t time, std::int32_t taken) {
    const std::int32_t holds = std::min(taken - 1, kCycles);
    const std::int32_t gap = std::min(time - end + holds, kCycles);
    const std::uint64_t first = std::uint64_t{1} << holds;
    issued = issued << gap << 1 | first;
    held = held << gap << 1 | (first - 1);
    end = time + taken;
  }
  /// What was there at `time`, within the hold of the last instruction.
  IssueHistory as_of(std::int32_t time) const {
    const std::int32_t ahead = std::min(end - time, kCycles);
    return {time, issued >> ahead, held >> ahead};
  }
  /// Issued and held cycles among the last `window` ones; those more than kCycles back are forgotten.
  int issued_in(std::int32_t window) const { return std::popcount(of_last(window, issued)); }
  int held_in(std::int32_t window) const { return std::popcount(of_last(window, held)); }

 private:
  static std::uint64_t of_last(std::int32_t window, std::uint64_t cycles) {
    return cycles << 1 << (kCycles - std::min(window, kCycles));
  }
};

}  // namespace warpscope::sm
