// Runs every point of a file and writes the file back with the model's columns.
#pragma once

#include <cstddef>
#include <string>

#include "experiments/point/point.hpp"

namespace warpscope::experiments {

struct SweepOptions {
  std::string points;    ///< file with the points
  std::string output;    ///< file to write
  int workers = 1;       ///< processes at a time
  bool resume = false;   ///< use rows that an interrupted sweep to the same output had finished
  ModelChoice defaults;  ///< for rows that do not say otherwise
};

struct SweepSummary {
  std::size_t points = 0;
  std::size_t failed = 0;
};

/// Throws UsageError where nothing can be run; a row that cannot be simulated only counts as failed. The
/// output has the rows in the order of the input, the same bytes for any number of workers.
SweepSummary run_sweep(const SweepOptions& options);

}  // namespace warpscope::experiments
