// Points as tasks: made in one process, done in another.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "experiments/point/point.hpp"
#include "experiments/point/run.hpp"
#include "experiments/store/outcome.hpp"
#include "experiments/workers/task_queue.hpp"
#include "model/gpu/launch_memo.hpp"
#include "model/hw/hw_config.hpp"

namespace warpscope::experiments {

/// A point, and the key of its result.
struct KeyedPoint {
  Point point;
  std::string key;
};

/// What is kept of a simulation, as text.
using ResultText = std::function<std::string(const Run&)>;
/// A PointResult as JSON, the format of stores.
std::string result_text(const Run& run);

/// Knows the GPUs it has seen, so that each is read from its file once, and the launches that it simulated
/// last, which related points share. A worker process that is forked off knows what its parent knew, and
/// simulates just what the key says.
class PointSimulator {
 public:
  /// Throws what the loader of the GPU throws.
  KeyedPoint keyed(const Point& point);
  /// Its family are the points that differ from it in the mask only, as these share launches.
  static Task task(const KeyedPoint& point);
  /// Simulates what the text of task() describes; the result is what `text_of` makes of it. Refused is what
  /// kernel and model cannot do with the point itself. Throws where this machine describes the GPU otherwise
  /// than the one that made the task, or lacks memory or a file: that says nothing about the point.
  Outcome simulate(const std::string& task, const ResultText& text_of = result_text);
  /// The files that describe the GPUs it has seen.
  const std::set<std::filesystem::path>& gpu_files() const { return files_; }

 private:
  using GpuChoice = std::pair<std::string, std::vector<std::string>>;  // name, overrides

  const hw::HwConfig& config(const ModelChoice& model);

  std::map<GpuChoice, hw::HwConfig> configs_;
  std::set<std::filesystem::path> files_;
  gpu::LaunchMemo memo_;
};

}  // namespace warpscope::experiments
