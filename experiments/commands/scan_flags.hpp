// The flags that make a scan of a run, and the run of one.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "experiments/commands/command.hpp"
#include "experiments/commands/problem_flags.hpp"
#include "experiments/commands/worker_flags.hpp"

namespace warpscope::experiments {

/// --scan, --csv and --chart.
class ScanFlags {
 public:
  void add_to(CLI::App& app);
  /// Name of a flag that was given, or an empty string.
  std::string first_given() const;
  /// What varies: --scan, and the flags of the problem that name a list or a range. Throws UsageError.
  std::vector<ScanAxis> axes(const ProblemFlags& problem) const;

  struct Request {
    std::vector<ScanAxis> axes;
    const ModelFlags& model;
    const ProblemFlags& problem;
    const WorkerFlags& workers;
    std::string json;    ///< as `run` has it
    std::string report;  ///< as `run` has it
  };
  /// Runs all points, writes the files and prints the table. Status::points_failed where some have no result.
  Status run(const Request& request) const;

 private:
  std::vector<std::string> scans_;
  std::string csv_;
  std::string chart_;
};

}  // namespace warpscope::experiments
