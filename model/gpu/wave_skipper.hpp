// Waves repeat: once a launch of many like CTAs runs steadily, whole waves can be left out and accounted for.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/memory/hbm.hpp"
#include "model/memory/l2.hpp"
#include "model/metrics/result.hpp"
#include "model/sim/event_queue.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::gpu {

/// What a launch has done up to the end of a window of CTAs.
struct Progress {
  sim::Cycles time = 0;
  std::array<std::uint64_t, metrics::kStallReasons> stall_warp_cycles{};
  std::uint64_t data_path_cycles = 0;
  std::vector<memory::HbmTraffic> hbm;
};

/// Windows that were left out, and the mean of those before them.
struct SkippedWaves {
  std::uint64_t windows = 0;
  std::uint64_t ctas = 0;      ///< in all of them
  Progress before;             ///< at the beginning of the windows averaged
  Progress after;              ///< at their end
  std::uint64_t averaged = 1;  ///< windows between the two
};

/// Watches a launch in windows of one wave of CTAs. When the mean duration of the last windows equals that of
/// the ones before within a tolerance, following windows may be skipped: all but the last ones where CTAs are
/// alike, and in several pieces, with windows executed in between, where the class of a CTA depends on its
/// place in the grid. The error is that tolerance; tests hold it against detailed runs.
class WaveSkipper {
 public:
  /// `slots` CTAs run at a time on the whole chip.
  WaveSkipper(const trace::Launch& launch, std::uint64_t slots);

  /// True if a window has ended with the last of `completed` CTAs and its progress is wanted.
  bool window_ends(std::uint64_t completed) {
    const bool ends = pieces_left_ > 0 && completed / window_ > windows_ended_;
    windows_ended_ = completed / window_;
    return ends;
  }
  /// Takes the progress at the end of a window; returns what may be skipped now.
  std::optional<SkippedWaves> observe(Progress progress, std::uint64_t dispatched);

 private:
  std::uint64_t ctas_;
  std::uint64_t window_;
  std::uint64_t pieces_left_;
  std::uint64_t windows_ended_ = 0;
  std::vector<Progress> ends_;
};

}  // namespace warpscope::gpu
