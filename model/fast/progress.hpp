// How far a launch has come, and whether it goes on as before.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "model/metrics/result.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/decoded_launch.hpp"

namespace warpscope::fast {

/// Bytes of one tensor that crossed the pins of HBM.
struct HbmBytes {
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
};

/// What a launch has done up to the end of a window.
struct LaunchProgress {
  sim::Cycles time = 0;
  double work = 0;            ///< in instructions, or whatever goes on evenly
  std::int64_t l2_bytes = 0;  ///< taken in the L2
  std::array<std::uint64_t, metrics::kStallReasons> stall_warp_cycles{};
  std::array<std::int64_t, sm::kCountedPipes> pipe_busy_cycles{};
  std::int64_t data_path_cycles = 0;
  std::uint64_t shared_load_wavefronts = 0;
  std::uint64_t shared_store_wavefronts = 0;
  std::vector<HbmBytes> hbm;  ///< by tensor
};

/// What has been done from one point to another.
LaunchProgress between(const LaunchProgress& from, const LaunchProgress& to);
LaunchProgress& operator+=(LaunchProgress& sum, const LaunchProgress& part);

/// Less than this many times the part that stands for it is not worth leaving out.
inline constexpr double kFewestRepeats = 1;

/// Cycles per work in a part of a launch.
double pace(const LaunchProgress& part);

/// Whether an L2 that holds `held` bytes of `capacity` stays as full as it is, empty or full, while it grows
/// by `growth`: it writes nothing back before it is full.
bool stays_filled(double held, double growth, std::int64_t capacity);

/// Whether the last `averaged` of the parts that end at `ends` took as long for their work as as many before
/// them, and the L2 stays as full as it is over `parts_left` more.
bool is_steady(std::span<const LaunchProgress> ends, std::size_t averaged, std::uint64_t parts_left,
               std::int64_t l2_capacity);

}  // namespace warpscope::fast
