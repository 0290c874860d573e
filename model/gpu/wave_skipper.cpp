#include "model/gpu/wave_skipper.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace warpscope::gpu {
namespace {

/// Two means of this many windows are compared.
constexpr std::uint64_t kWindowsAveraged = 2;
/// Relative difference of the two means below which a launch counts as steady.
constexpr double kSteady = 0.005;
/// Before this time the memory has not yet seen its own load (l2.cpp averages over epochs).
constexpr sim::Cycles kSettledCycles = 49152;
/// Windows that are always executed at the end, so that the tail of the launch is real.
constexpr std::uint64_t kTailWindows = 1;

/// CTAs after which the class table repeats.
std::uint64_t class_period(const trace::Launch& launch) {
  const auto varies = [](const std::vector<std::uint32_t>& classes) {
    return std::ranges::adjacent_find(classes, std::not_equal_to<>{}) != classes.end();
  };
  std::uint64_t period = 1;
  std::uint64_t stride = 1;
  for (std::size_t d = 0; d < 3; ++d) {
    stride *= launch.grid[d];
    if (varies(launch.class_of_block[d])) {
      period = stride;
    }
  }
  return period;
}

}  // namespace

WaveSkipper::WaveSkipper(const trace::Launch& launch, std::uint64_t slots)
    : ctas_(trace::cta_count(launch)),
      period_(class_period(launch)),
      window_((slots + period_ - 1) / period_ * period_) {
  // All of a launch must be whole periods, or counts could not be scaled exactly.
  done_ = ctas_ % period_ != 0 || ctas_ < window_ * (2 * kWindowsAveraged + kTailWindows + 1);
}

bool WaveSkipper::window_ends(std::uint64_t completed) const {
  return !done_ && completed % window_ == 0;
}

std::optional<SkippedWaves> WaveSkipper::observe(Progress progress, std::uint64_t dispatched) {
  const sim::Cycles now = progress.time;
  ends_.push_back(std::move(progress));
  if (ends_.size() > 2 * kWindowsAveraged + 1) {
    ends_.erase(ends_.begin());
  }
  const std::uint64_t left = ctas_ - dispatched;
  if (left < window_ * (kTailWindows + 1)) {
    done_ = true;
    return std::nullopt;
  }
  if (ends_.size() < 2 * kWindowsAveraged + 1 || now < kSettledCycles) {
    return std::nullopt;
  }
  const Progress& middle = ends_[kWindowsAveraged];
  const auto earlier = static_cast<double>(middle.time - ends_.front().time);
  const auto later = static_cast<double>(ends_.back().time - middle.time);
  if (std::abs(later - earlier) > kSteady * earlier) {
    return std::nullopt;
  }
  done_ = true;
  SkippedWaves skipped;
  skipped.windows = left / window_ - kTailWindows;
  skipped.ctas = skipped.windows * window_;
  skipped.before = ends_.front();
  skipped.after = ends_.back();
  skipped.period = period_;
  skipped.averaged = 2 * kWindowsAveraged;
  return skipped;
}

}  // namespace warpscope::gpu
