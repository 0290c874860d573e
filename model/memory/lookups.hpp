// Lookups of the L2, of all slices together.
#pragma once

#include <cstdint>
#include <utility>

#include "model/memory/server.hpp"

namespace warpscope::memory {

/// One queue that looks up as many lines at a time as all slices do. Neighbouring lines lie in different
/// slices, so that however few blocks SMs ask for, all slices serve them: 132 SMs have the same 16 KB as soon
/// as one SM alone (experiments/reference/measured-h200/shared_tiles.md).
class Lookups {
 public:
  Lookups() = default;
  explicit Lookups(std::int64_t slices) : slices_(slices) {}

  /// When a piece is looked up that comes at `time` and would take one slice `service`, both in queue units.
  /// `accesses` SMs ask for it; those that come later go on when they have been served, as what nobody waits
  /// for.
  std::int64_t serve(std::int64_t time, std::int64_t service, std::int64_t accesses) {
    later_ += (accesses - 1) * service;
    rest_ += service;
    const std::int64_t together = rest_ / slices_;
    rest_ -= together * slices_;
    return server_.serve(time, together);
  }
  /// What nobody waits for comes from `time` on: it would take one slice `service`, in pieces of `piece`
  /// each.
  void add_background(std::int64_t time, std::int64_t service, std::int64_t piece) {
    server_.add_background(time, (service + std::exchange(later_, 0)) / slices_, piece / slices_);
  }

 private:
  Server server_;
  std::int64_t slices_ = 1;
  std::int64_t rest_ = 0;   ///< of a slice, less than a unit of all
  std::int64_t later_ = 0;  ///< of a slice, told with the next background
};

}  // namespace warpscope::memory
