// What the last cycles of a sub-core's issue slot were used for, as bit masks.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

namespace warpscope::sm {

/// Bit i of a mask is the cycle `end - 1 - i`. Only stall accounting reads it, so it is not part of SmState.
struct IssueHistory {
  std::int32_t end = 0;   ///< it has come so far
  std::int32_t hold = 0;  ///< cycles from there on for which an instruction keeps the dispatch port
  std::uint64_t issued = 0;
  std::uint64_t held = 0;

  static constexpr std::int32_t kCycles = 64;

  /// Nothing issues between `end` and `time`.
  void go_on_to(std::int32_t time) {
    const std::int32_t gap = time - end;
    const std::int32_t holds = std::min(hold, gap);
    if (gap < kCycles) {
      issued <<= gap;
      held = held << gap | ((std::uint64_t{1} << holds) - 1) << (gap - holds);
    } else {
      issued = 0;
      held = gap - holds < kCycles ? low_bits(holds) << (gap - holds) : 0;
    }
    hold -= holds;
    end = time;
  }
  /// An instruction issues in cycle `end`, where the port is free, and takes it for `taken` cycles.
  void issue(std::int32_t taken) {
    issued = issued << 1 | 1;
    held <<= 1;
    ++end;
    hold = taken - 1;
  }
  /// Issued and held cycles among the last `window` ones; those more than kCycles back are forgotten.
  int issued_in(std::int32_t window) const { return std::popcount(issued & low_bits(window)); }
  int held_in(std::int32_t window) const { return std::popcount(held & low_bits(window)); }

 private:
  /// Without a branch: how many they are is hard to predict.
  static std::uint64_t low_bits(std::int32_t count) {
    const std::uint64_t all = std::uint64_t{0} - static_cast<std::uint64_t>(count >= kCycles);
    return ((std::uint64_t{1} << (count % kCycles)) - 1) | all;
  }
};

}  // namespace warpscope::sm
