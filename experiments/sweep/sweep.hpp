// Runs every point of a file and writes the file back with the model's columns.
#pragma once

#include <optional>
#include <string>

#include "experiments/batch/point_simulator.hpp"
#include "experiments/sweep/export.hpp"
#include "experiments/sweep/shard.hpp"
#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

struct SweepOptions {
  std::string points;          ///< file with the points
  SweepOutputs outputs;        ///< where a shard writes nothing but its store
  std::string store;           ///< empty: one beside the output, and only for this sweep
  bool resume = false;         ///< go on with the store beside the output
  std::optional<Shard> shard;  ///< simulate this share only
  ModelChoice defaults;        ///< for rows that do not say otherwise
};

/// Throws UsageError where nothing can be run; a row that cannot be simulated only counts as failed. The
/// output has the rows in the order of the input, the same bytes for any number of workers. Results are in
/// the store as soon as they are there; a store of its own is deleted once another run could add nothing to
/// the output; a mark on the output says to `resume` that there is nothing to do.
SweepSummary run_sweep(const SweepOptions& options, PointSimulator& simulator, Workers& workers);

/// The store that a sweep without a named one uses.
std::string default_store(const SweepOptions& options);

}  // namespace warpscope::experiments
