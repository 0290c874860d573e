// The flags of `run` that record a timeline.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "experiments/point/run.hpp"
#include "model/metrics/timeline_recorder.hpp"

namespace warpscope::experiments {

/// --timeline, --timeline-window, --timeline-sm, --timeline-size.
class TimelineFlags {
 public:
  void add_to(CLI::App& app);
  /// Empty if none is asked for.
  const std::string& file() const { return file_; }
  /// Throws UsageError where a flag is wrong or there is no --timeline that it belongs to.
  void check() const;
  /// What to record; nothing without --timeline.
  std::optional<metrics::TimelineRequest> request(const hw::HwConfig& config) const;
  /// Writes what was recorded while `run` ran, and adds to its remarks.
  void write(const metrics::TimelineData& data, Run& run) const;

 private:
  metrics::CycleSpan window() const;

  std::string file_;
  std::string window_;
  int sm_ = -1;
  int megabytes_ = 20;
};

}  // namespace warpscope::experiments
