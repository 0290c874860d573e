// Cycles of the SMs as SystemC time.
#pragma once

#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <systemc>

#include "model/trace/wide_integer.hpp"

namespace warpscope::sim {

/// The kernel counts femtoseconds, of which no clock of a GPU has a whole number in a cycle: every edge is
/// rounded by itself, so that errors do not add up. Must be called in a SimulationContext before any sc_time
/// is made.
inline void use_femtoseconds() {
  sc_core::sc_set_time_resolution(1, sc_core::SC_FS);
}

/// The SM clock of a launch.
class SmClock {
 public:
  SmClock() = default;
  /// Cycle 0 is at `begin`.
  SmClock(const sc_core::sc_time& begin, double mhz)
      : begin_(begin.value()), hertz_(std::llround(mhz * 1e6)) {}

  /// Throws std::invalid_argument where SystemC cannot count so far.
  sc_core::sc_time time_of(std::int64_t cycle) const {
    constexpr trace::Int128 kMost = std::uint64_t{1} << 63;
    const trace::Int128 time = begin_ + (cycle * kSecond + hertz_ / 2) / hertz_;
    if (time > kMost) {
      throw std::invalid_argument(
          "the launches take more than 9223 seconds together, the longest that is simulated");
    }
    return sc_core::sc_time::from_value(static_cast<std::uint64_t>(time));
  }
  /// Cycles that `time` is long, a part of one counted as a whole. A femtosecond is not: that is how far two
  /// edges may be rounded apart.
  std::int64_t cycles_up(const sc_core::sc_time& time) const {
    return static_cast<std::int64_t>((less_rounding(time) * hertz_ + kSecond - 1) / kSecond);
  }
  /// Whole cycles that `time` is long, where a femtosecond too few is none.
  std::int64_t cycles_down(const sc_core::sc_time& time) const {
    return static_cast<std::int64_t>((trace::Int128{time.value()} + 1) * hertz_ / kSecond);
  }

 private:
  static constexpr trace::Int128 kSecond = 1000000000000000;  ///< in femtoseconds

  static trace::Int128 less_rounding(const sc_core::sc_time& time) {
    return time.value() > 0 ? trace::Int128{time.value()} - 1 : 0;
  }

  trace::Int128 begin_ = 0;
  std::int64_t hertz_ = 1;
};

}  // namespace warpscope::sim
