// Memory that runs out when a test says so.
#pragma once

#include <cstdint>

namespace warpscope::test {

/// While it lives, the allocation of this thread that follows `allocations` others throws std::bad_alloc.
/// Those behind it succeed, as what an error leaves behind has to be cleared away.
class ScarceMemory {
 public:
  explicit ScarceMemory(std::int64_t allocations);
  ~ScarceMemory();
  /// Whether that allocation has come.
  static bool ran_out();
  ScarceMemory(const ScarceMemory&) = delete;
  ScarceMemory& operator=(const ScarceMemory&) = delete;
};

}  // namespace warpscope::test
