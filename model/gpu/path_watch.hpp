// Whether a launch runs so steadily that all SMs can leave out a part of their CTAs' paths.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "model/gpu/progress.hpp"

namespace warpscope::gpu {

/// What all SMs are to leave out.
struct PathOrder {
  sim::Cycles cycles = 0;
  std::size_t windows = 0;        ///< that say how fast they would have gone on
  sim::Cycles windows_since = 0;  ///< begin of the last stretch of these that was executed
  LeftOut left_out;               ///< with no repeats so far
};

/// Watches a launch in windows that are passes of one SM through a loop (sm/path_skipper.hpp). All SMs leave
/// out the same time, so that they stay together, once the mean pace of the last windows is known well enough
/// by how much they vary. It is never more than a part of what has passed since the launch began, so that
/// what changes slowly, like the share of the data that the L2 holds, is noticed.
class PathWatch {
 public:
  explicit PathWatch(std::int64_t l2_bytes) : l2_bytes_(l2_bytes) {}

  /// Takes the progress at the end of a window. At most `room` cycles can be left out.
  std::optional<PathOrder> observe(Progress progress, sim::Cycles room);
  /// CTAs have come or gone.
  void start_anew();

 private:
  /// Whether the mean of the last `count` windows is good enough.
  bool steady(std::size_t count, sim::Cycles cycles) const;

  std::int64_t l2_bytes_;
  std::optional<Progress> last_end_;  ///< absent where what lies behind it was left out
  sim::Cycles executed_since_ = 0;
  std::vector<Progress> windows_;
};

}  // namespace warpscope::gpu
