// Points as tasks: made in one process, done in another.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "experiments/point/point.hpp"
#include "experiments/workers/task_queue.hpp"
#include "model/gpu/launch_memo.hpp"
#include "model/hw/hw_config.hpp"

namespace warpscope::experiments {

/// A point, and the key of its result.
struct KeyedPoint {
  Point point;
  std::string key;
};

/// Knows the GPUs it has seen, so that each is read from its file once, and the launches that it simulated
/// last, which related points share. A worker process that is forked off knows what its parent knew, and
/// simulates just what the key says.
class PointSimulator {
 public:
  /// Throws what the loader of the GPU throws.
  KeyedPoint keyed(const Point& point);
  /// Its family are the points that differ from it in the mask only, as these share launches.
  static Task task(const KeyedPoint& point);
  /// Simulates what the text of task() describes; the result as JSON. Throws what the loader, the kernel and
  /// the model throw, and where this machine describes the GPU otherwise than the one that made the task.
  std::string simulate(const std::string& task);

 private:
  using GpuChoice = std::pair<std::string, std::vector<std::string>>;  // name, overrides

  const hw::HwConfig& config(const ModelChoice& model);

  std::map<GpuChoice, hw::HwConfig> configs_;
  gpu::LaunchMemo memo_;
};

}  // namespace warpscope::experiments
