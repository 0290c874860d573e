// What asynchronous copies bring to shared memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "model/sm/sm_state.hpp"

namespace warpscope::sm {

/// When the data of copies come that have not taken the data path yet, the earliest first.
class CopyArrivals {
 public:
  /// kNever: none come.
  std::int32_t first() const { return first_; }
  void add(std::int32_t time) {
    times_.push_back(time);
    std::ranges::push_heap(times_, std::greater<>());
    first_ = times_.front();
  }
  /// The first one, which is there no more.
  std::int32_t take() {
    const std::int32_t time = first_;
    std::ranges::pop_heap(times_, std::greater<>());
    times_.pop_back();
    first_ = times_.empty() ? kNever : times_.front();
    return time;
  }
  void rebase(std::int32_t origin) {
    for (std::int32_t& time : times_) {
      time -= origin;
    }
    first_ = times_.empty() ? kNever : times_.front();
  }

 private:
  std::vector<std::int32_t> times_;  // a heap
  std::int32_t first_ = kNever;
};

}  // namespace warpscope::sm
