// What ran where and when: the data behind timelines and their charts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include "model/metrics/observer.hpp"
#include "model/metrics/result.hpp"
#include "model/trace/opcode.hpp"

namespace warpscope::metrics {

/// From `begin` up to `end`, in SM cycles since the first launch began. Launches follow one another without a
/// gap in cycles; TimelineLaunch says when they began.
struct CycleSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t cycles() const { return end - begin; }
  bool overlaps(const CycleSpan& other) const { return begin < other.end && other.begin < end; }
  CycleSpan within(const CycleSpan& other) const {
    return {std::max(begin, other.begin), std::min(end, other.end)};
  }
  bool operator==(const CycleSpan&) const = default;
};
inline constexpr CycleSpan kAlways{0, std::numeric_limits<std::int64_t>::max()};

struct TimelineLaunch {
  CycleSpan span;
  double begin_us = 0;
  double sm_clock_mhz = 0;
  std::string name;
  std::array<std::uint32_t, 3> grid{};
  int sub_cores = 0;  ///< per SM
  int cta_slots = 0;  ///< per SM
  int warps_per_cta = 0;
  std::vector<std::string> tensors;  ///< that it knows
};

/// A CTA from its first cycle in a slot of an SM to its last EXIT.
struct TimelineCta {
  CycleSpan span;
  std::uint32_t launch = 0;  ///< into TimelineData::launches
  int sm = 0;
  int slot = 0;
  std::uint64_t number = 0;  ///< in the grid, x fastest
  std::array<std::uint32_t, 3> block{};
  std::size_t cta_class = 0;
};

/// What a warp does: it issues `instructions` to one pipe, one after another, or waits for one reason. The
/// spans of a warp follow one another without overlap; cycles between two instructions that are part of their
/// stall counts (Stall::wait) belong to the first one.
struct TimelineWarp {
  CycleSpan span;
  std::uint32_t instructions = 0;  ///< 0: it waits
  std::uint8_t warp = 0;           ///< warp slot of the SM
  trace::Pipe pipe = trace::Pipe::control;
  Stall stall = Stall::selected;
};

/// A pipe is taken without a break, by so many instructions.
struct TimelinePipe {
  CycleSpan span;
  std::uint32_t instructions = 0;
  int sub_core = 0;  ///< -1: the data path of shared memory and MIO, which all share
  trace::Pipe pipe = trace::Pipe::control;
};

/// One group of asynchronous copies of a CTA: from the first copy on the data path to its last byte.
struct TimelineCopy {
  CycleSpan span;
  int slot = 0;
  std::uint32_t instructions = 0;
  std::uint64_t bytes = 0;
  std::set<std::uint16_t> tensors;  ///< into the tensors of the launch
};

/// A barrier of a CTA, from the first arrival to the release of all.
struct TimelineBarrier {
  CycleSpan span;
  int slot = 0;
  int barrier = 0;
};

struct TimelineMoved {
  CycleSpan span;
  MovedBytes bytes;
};

struct TimelineData {
  CycleSpan cta_window;  ///< CTAs and bytes are known of these cycles
  CycleSpan sm_window;   ///< what happens on `sm`, of these; ends early where there was too much of it
  bool sm_stopped = false;
  bool ctas_stopped = false;  ///< likewise, CTAs
  int sm = 0;                 ///< the SM whose warps, pipes, copies and barriers are known
  std::vector<TimelineLaunch> launches;
  std::vector<TimelineCta> ctas;  ///< in the order in which they ended
  std::vector<TimelineWarp> warps;
  std::vector<TimelinePipe> pipes;
  std::vector<TimelineCopy> copies;
  std::vector<TimelineBarrier> barriers;
  std::vector<TimelineMoved> moved;  ///< in order of time

  /// The launch that runs in this cycle; there is one at least.
  const TimelineLaunch& launch_at(std::int64_t cycle) const {
    const auto next = std::ranges::find_if(
        launches, [&](const TimelineLaunch& launch) { return launch.span.begin > cycle; });
    return next == launches.begin() ? *next : *(next - 1);
  }
};

}  // namespace warpscope::metrics
