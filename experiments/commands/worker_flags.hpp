// The flags that say how many points run at a time, and what each may take.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "experiments/workers/pool_options.hpp"

namespace warpscope::experiments {

/// -j, --timeout and --memory, as text until they are asked for.
struct WorkerFlags {
  std::string jobs;
  std::string timeout;
  std::string memory;

  /// `jobs_help` says what there are several of at a time.
  void add_to(CLI::App& app, const std::string& jobs_help = "points at a time (default: one per processor)");
  /// `processes` of them unless -j says otherwise. Throws UsageError.
  PoolOptions read(int processes) const;
};

}  // namespace warpscope::experiments
