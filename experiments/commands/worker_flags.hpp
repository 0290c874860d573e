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

  void add_to(CLI::App& app);
  /// `processes` of them unless -j says otherwise. Throws UsageError.
  PoolOptions read(int processes) const;
};

}  // namespace warpscope::experiments
