#include "model/gpu/wave_skipper.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace warpscope::gpu {
namespace {

/// Two means of this many windows are compared.
constexpr std::uint64_t kWindowsAveraged = 2;
/// Relative difference of the two means below which a launch counts as steady.
constexpr double kSteady = 0.01;
/// Windows that are always executed at the end, so that the tail of the launch is real.
constexpr std::uint64_t kTailWindows = 1;

/// Pieces that a launch with several classes of CTAs is skipped in.
constexpr std::uint64_t kPieces = 3;

bool has_one_class(const trace::Launch& launch) {
  return std::ranges::all_of(launch.class_of_block, [](const std::vector<std::uint32_t>& classes) {
    return std::ranges::adjacent_find(classes, std::not_equal_to<>{}) == classes.end();
  });
}

}  // namespace

WaveSkipper::WaveSkipper(const trace::Launch& launch, std::uint64_t slots)
    : ctas_(trace::cta_count(launch)), window_(slots), pieces_left_(has_one_class(launch) ? 1 : kPieces) {
  if (ctas_ < window_ * (pieces_left_ * 2 * kWindowsAveraged + kTailWindows + 1)) {
    pieces_left_ = 0;
  }
}

std::optional<SkippedWaves> WaveSkipper::observe(Progress progress, std::uint64_t dispatched) {
  const sim::Cycles now = progress.time;
  ends_.push_back(std::move(progress));
  if (ends_.size() > 2 * kWindowsAveraged + 1) {
    ends_.erase(ends_.begin());
  }
  const std::uint64_t windows_left = (ctas_ - dispatched) / window_;
  if (windows_left <= kTailWindows) {
    pieces_left_ = 0;
    return std::nullopt;
  }
  if (ends_.size() < 2 * kWindowsAveraged + 1 || now < memory::kLoadSettledCycles) {
    return std::nullopt;
  }
  const Progress& middle = ends_[kWindowsAveraged];
  const auto earlier = static_cast<double>(middle.time - ends_.front().time);
  const auto later = static_cast<double>(ends_.back().time - middle.time);
  if (std::abs(later - earlier) > kSteady * earlier) {
    return std::nullopt;
  }
  SkippedWaves skipped;
  skipped.windows = (windows_left - kTailWindows) / pieces_left_;
  skipped.ctas = skipped.windows * window_;
  skipped.before = ends_.front();
  skipped.after = ends_.back();
  skipped.averaged = 2 * kWindowsAveraged;
  --pieces_left_;
  ends_.clear();
  return skipped.windows > 0 ? std::optional(std::move(skipped)) : std::nullopt;
}

}  // namespace warpscope::gpu
