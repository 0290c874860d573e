// Puts the shards of a sweep together.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "experiments/batch/point_simulator.hpp"
#include "experiments/sweep/export.hpp"

namespace warpscope::experiments {

struct MergeOptions {
  std::string points;  ///< the file that the shards were run with
  SweepOutputs outputs;
  std::vector<std::string> stores;
  ModelChoice defaults;  ///< as the shards had them
};

struct MergeSummary {
  SweepSummary sweep;
  std::string overlap;  ///< one line about points that several stores have; empty if none
};

/// Writes what an undivided sweep would have written. Throws UsageError where a point is in no store, where
/// two stores have different results for one, or where a store cannot be read; nothing is written then.
MergeSummary merge_stores(const MergeOptions& options, PointSimulator& simulator);

}  // namespace warpscope::experiments
