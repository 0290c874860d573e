// How far a launch has come, and whether it goes on as before.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "model/memory/hbm.hpp"
#include "model/metrics/result.hpp"
#include "model/sim/event_queue.hpp"
#include "model/sm/decoded_launch.hpp"

namespace warpscope::gpu {

/// What a launch has done up to the end of a window.
struct Progress {
  sim::Cycles time = 0;
  double work = 0;            ///< in instructions, or whatever goes on evenly
  std::int64_t l2_bytes = 0;  ///< taken in the L2
  std::array<std::uint64_t, metrics::kStallReasons> stall_warp_cycles{};
  std::array<std::int64_t, sm::kCountedPipes> pipe_busy_cycles{};
  std::int64_t data_path_cycles = 0;
  std::uint64_t shared_load_wavefronts = 0;
  std::uint64_t shared_store_wavefronts = 0;
  std::vector<memory::HbmTraffic> hbm;
};

/// What has been done from one point to another.
Progress between(const Progress& from, const Progress& to);
Progress& operator+=(Progress& sum, const Progress& part);

/// Something that was left out, to be counted like what came before it.
struct LeftOut {
  Progress part;       ///< what stands for it, from its beginning to its end
  double repeats = 0;  ///< work that was left out over the work of that part
};

/// Cycles per work in a part of a launch.
double pace(const Progress& part);

/// Whether an L2 that holds `held` bytes of `capacity` stays as full as it is, empty or full, while it grows
/// by `growth`: it writes nothing back before it is full.
bool stays_filled(double held, double growth, std::int64_t capacity);

}  // namespace warpscope::gpu
