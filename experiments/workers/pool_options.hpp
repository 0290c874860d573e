// How many worker processes there are, and what one task may take.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace warpscope::experiments {

/// A task that takes more is ended: it counts as died, not as refused, since a larger limit may let it pass.
struct TaskLimits {
  std::optional<std::chrono::milliseconds> time;
  std::optional<std::uint64_t> memory_bytes;  ///< data of the process that does it
};

struct PoolOptions {
  int processes = 1;
  TaskLimits limits;
};

}  // namespace warpscope::experiments
