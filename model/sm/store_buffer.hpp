// What an SM has written and the L2 has not yet taken.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/sm/sm_state.hpp"

namespace warpscope::sm {

/// Room for so much, in bytes or in entries.
class StoreBuffer {
 public:
  explicit StoreBuffer(std::int64_t capacity) : capacity_(capacity) {}

  /// When there is room for `amount`, not before `time`; kNever while only answers that have not come can
  /// make room. What is larger than the buffer waits until it is empty. Times asked for never go back.
  std::int32_t room_at(std::int64_t amount, std::int32_t time) {
    const auto left = std::ranges::find_if(leaving_, [&](const Leaving& entry) { return entry.time > time; });
    for (auto entry = leaving_.begin(); entry != left; ++entry) {
      held_ -= entry->amount;
    }
    leaving_.erase(leaving_.begin(), left);
    std::int64_t held = held_;
    const auto fits = [&] { return held == 0 || held + amount <= capacity_; };
    for (auto entry = leaving_.begin(); !fits() && entry != leaving_.end(); ++entry) {
      held -= entry->amount;
      time = entry->time;
    }
    return fits() ? time : kNever;
  }
  void enter(std::int64_t amount) { held_ += amount; }
  /// The L2 has taken `amount` at `time`.
  void leave(std::int64_t amount, std::int32_t time) {
    const auto later =
        std::ranges::find_if(leaving_, [&](const Leaving& entry) { return entry.time > time; });
    leaving_.insert(later, {time, amount});
  }
  /// Times count from `origin` on.
  void rebase(std::int32_t origin) {
    for (Leaving& entry : leaving_) {
      entry.time = std::max(0, entry.time - origin);
    }
  }

 private:
  struct Leaving {
    std::int32_t time = 0;
    std::int64_t amount = 0;
  };
  std::int64_t capacity_;
  std::int64_t held_ = 0;         ///< of it, what is in `leaving_` goes at a known time
  std::vector<Leaving> leaving_;  ///< in the order of time
};

}  // namespace warpscope::sm
