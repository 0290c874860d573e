// Launches that ran before: the same one again need not be simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/gpu/simulate.hpp"
#include "model/gpu/sm_group.hpp"
#include "model/metrics/result.hpp"
#include "model/trace/launch.hpp"

namespace warpscope::gpu {

/// All that decides what a launch does where the L2 is cold at its begin.
struct LaunchCase {
  std::string gpu;  ///< hw::content_hash()
  Mode mode = Mode::fast;
  std::vector<SmGroup> groups;  ///< which depend on the other launches of its trace
  bool asked_for = false;       ///< so many groups, so that none are added where they say too little
  trace::Trace launch;          ///< with the tensors that it names, as alone() makes it, without names

  bool operator==(const LaunchCase&) const = default;
};

/// Takes the names off, which no number depends on.
trace::Trace without_names(trace::Trace trace);

/// What came of a launch.
struct LaunchOutcome {
  metrics::LaunchResult result;
  std::uint64_t instructions = 0;  ///< executed by the kernel
  std::uint64_t stepped = 0;       ///< of these, stepped one by one
  double cycles_deviation = 0;     ///< standard deviation of the cycles
};

/// Remembers the launches used last. Kernels of one problem with and without a mask share some, and these
/// give the same numbers to the last bit, whether they are simulated or remembered.
class LaunchMemo {
 public:
  /// The launches of one problem fit, and those of a few kernels that consist of one launch.
  static constexpr std::size_t kLaunches = 16;

  /// What is remembered of a launch, or nullptr. Valid until the next call.
  const LaunchOutcome* find(const LaunchCase& launch);
  /// Takes a launch that find() does not know; forgets the one used longest ago where there are too many.
  void keep(LaunchCase launch, LaunchOutcome outcome);

 private:
  std::vector<std::pair<LaunchCase, LaunchOutcome>> launches_;  ///< used last at the end
};

}  // namespace warpscope::gpu
