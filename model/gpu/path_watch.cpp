#include "model/gpu/path_watch.hpp"

#include <algorithm>
#include <cmath>

#include "model/memory/l2.hpp"

namespace warpscope::gpu {
namespace {

/// What is left out at once, in parts of the time since the launch began.
constexpr double kSkipOverElapsed = 2;
/// Windows that are averaged.
constexpr std::size_t kFewestWindows = 4;
constexpr std::size_t kMostWindows = 12;
/// Standard error of their mean pace, relative to it.
constexpr double kPaceError = 0.007;

}  // namespace

void PathWatch::start_anew() {
  last_end_.reset();
  windows_.clear();
}

bool PathWatch::steady(std::size_t count, sim::Cycles cycles) const {
  Progress sum;
  double paces = 0;
  double squares = 0;
  for (auto window = windows_.end() - static_cast<std::ptrdiff_t>(count); window != windows_.end();
       ++window) {
    sum += *window;
    paces += pace(*window);
    squares += pace(*window) * pace(*window);
  }
  const auto n = static_cast<double>(count);
  const double mean = paces / n;
  const double variance = std::max(0.0, squares / n - mean * mean) * n / (n - 1);
  const double ahead = static_cast<double>(cycles) / static_cast<double>(sum.time);
  return std::sqrt(variance / n) <= kPaceError * mean &&
         stays_filled(static_cast<double>(last_end_->l2_bytes), static_cast<double>(sum.l2_bytes) * ahead,
                      l2_bytes_);
}

std::optional<PathOrder> PathWatch::observe(Progress progress, sim::Cycles room) {
  if (progress.time < memory::kLoadSettledCycles) {
    return std::nullopt;
  }
  if (last_end_) {
    windows_.push_back(between(*last_end_, progress));
    if (windows_.size() > kMostWindows) {
      windows_.erase(windows_.begin());
    }
  } else {
    executed_since_ = progress.time;
  }
  last_end_ = std::move(progress);
  const sim::Cycles now = last_end_->time;
  const sim::Cycles cycles =
      std::min(room, static_cast<sim::Cycles>(kSkipOverElapsed * static_cast<double>(now)));
  if (windows_.size() < kFewestWindows || executed_since_ == now || cycles < windows_.back().time) {
    return std::nullopt;
  }
  std::size_t count = windows_.size();
  while (count >= kFewestWindows && !steady(count, cycles)) {
    --count;
  }
  if (count < kFewestWindows) {
    return std::nullopt;
  }
  PathOrder order{cycles, count, executed_since_, {}};
  for (std::size_t i = windows_.size() - count; i < windows_.size(); ++i) {
    order.left_out.part += windows_[i];
  }
  last_end_.reset();
  return order;
}

}  // namespace warpscope::gpu
