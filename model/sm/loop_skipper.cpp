#include "model/sm/loop_skipper.hpp"

#include <algorithm>
#include <cmath>

#include "model/memory/l2.hpp"
#include "model/sm/loop_footprint.hpp"

namespace warpscope::sm {
namespace {

/// Iterations of the first and of the longest window.
constexpr std::uint32_t kFirstWindow = 4;
constexpr std::uint32_t kLongestWindow = 16;
/// Relative difference of the time per iteration in two windows below which they agree, for each iteration of
/// the window: a loop that never repeats exactly is taken at its mean, and short windows must not catch it in
/// a transient.
constexpr double kAgreementPerIteration = 0.001;
/// SMs stay within this time of one another, so that what they read is in the L2 when the others want it.
constexpr sim::Cycles kHorizonCycles = 262144;
/// A window stands for at most this many others, so that changes of the memory's load are noticed.
constexpr std::uint32_t kMostRepeats = 24;
/// Time since the launch began over what is left out at once. When other SMs run out of work the rest gets
/// more of the memory's bandwidth, which is thus noticed late by no more than an eighth.
constexpr sim::Cycles kElapsedOverSkip = 8;
/// Iterations at the end of a loop that are always executed.
constexpr std::uint32_t kLastIterations = 2;

constexpr int kNoLoop = -1;

/// Depth of the innermost loop that a warp is in; -1 outside of loops.
int active_depth(const LoopCounters& counters) {
  int depth = static_cast<int>(trace::kMaxLoopDepth) - 1;
  while (depth >= 0 && counters.trips[static_cast<std::size_t>(depth)] == 0) {
    --depth;
  }
  return depth;
}

/// Same loop of the same pass through the outer ones.
bool same_pass(const LoopCounters& a, const LoopCounters& b) {
  const int depth = active_depth(a);
  return a.trips == b.trips &&
         std::equal(a.iteration.begin(), a.iteration.begin() + std::max(0, depth), b.iteration.begin()) &&
         (depth < 0 ||
          a.iteration[static_cast<std::size_t>(depth)] <= b.iteration[static_cast<std::size_t>(depth)]);
}

}  // namespace

void LoopSkipper::reset() {
  start_anew();
  known_texts_.clear();
}

void LoopSkipper::start_anew() {
  samples_.clear();
  may_skip_ = false;
  window_iterations_ = kFirstWindow;
}

int LoopSkipper::reference_slot(const SmCore& core) const {
  for (int slot = 0; slot < core.cta_slots(); ++slot) {
    if (core.cta(slot).occupied) {
      const int warp = slot * static_cast<int>(decoded_.warps_per_cta);
      return active_depth(core.loop_counters_of(warp)) >= 0 ? slot : -1;
    }
  }
  return -1;
}

bool LoopSkipper::wants_sample(const SmCore& core, sim::Cycles now) {
  // The load that a launch starts with lasts until it has left the average.
  const int slot = now < memory::kLoadSettledCycles ? -1 : reference_slot(core);
  if (slot < 0) {
    start_anew();
    return false;
  }
  const int warp = slot * static_cast<int>(decoded_.warps_per_cta);
  const LoopCounters& counters = core.loop_counters_of(warp);
  const auto depth = static_cast<std::size_t>(active_depth(counters));
  if (!samples_.empty() && !same_pass(samples_.back().counters[static_cast<std::size_t>(warp)], counters)) {
    start_anew();
  }
  if (samples_.empty()) {
    next_iteration_ = 2;  // the first ones wait for cold data
  }
  return counters.iteration[depth] >= next_iteration_;
}

std::optional<LoopSkipper::Sample> LoopSkipper::take(const SmCore& core, sim::Cycles now,
                                                     std::size_t slice) const {
  Sample sample;
  sample.time = now;
  sample.slice = slice;
  const auto warps_per_cta = static_cast<int>(decoded_.warps_per_cta);
  for (int slot = 0; slot < core.cta_slots(); ++slot) {
    sample.progress.push_back(-1);
    for (int warp = slot * warps_per_cta; warp < (slot + 1) * warps_per_cta; ++warp) {
      const LoopCounters& counters = core.loop_counters_of(warp);
      sample.counters.push_back(counters);
      sample.loops.push_back(kNoLoop);
      if (!core.cta(slot).occupied) {
        continue;
      }
      const std::uint32_t pc = core.state().warps[static_cast<std::size_t>(warp)].pc;
      const int loop = innermost_loop(decoded_, pc);
      if (loop == kNoLoop || !decoded_.loops[static_cast<std::size_t>(loop)].innermost) {
        return std::nullopt;
      }
      sample.loops.back() = loop;
      if (warp == slot * warps_per_cta) {
        const DecodedLoop& body = decoded_.loops[static_cast<std::size_t>(loop)];
        sample.progress.back() =
            counters.iteration[body.depth] +
            static_cast<double>(pc - body.begin) / static_cast<double>(body.end - body.begin);
      }
    }
  }
  return sample;
}

void LoopSkipper::sample(const SmCore& core, sim::Cycles now, std::size_t slice) {
  std::optional<Sample> taken = take(core, now, slice);
  if (!taken) {
    start_anew();
    return;
  }
  if (!samples_.empty()) {
    const Sample& last = samples_.back();
    const bool goes_on =
        last.loops == taken->loops && std::ranges::equal(last.counters, taken->counters, same_pass);
    if (!goes_on) {
      start_anew();
    }
  }
  samples_.push_back(*std::move(taken));
  const int slot = reference_slot(core);
  const auto progress = static_cast<std::uint32_t>(samples_.back().progress[static_cast<std::size_t>(slot)]);
  may_skip_ = (samples_.size() == 3 && steady()) || goes_on_as_known();
  if (may_skip_) {
    known_texts_ = texts(samples_.back());
    known_pace_ = pace(samples_.front(), samples_.back());
  } else if (samples_.size() == 3) {
    samples_.erase(samples_.begin());
    window_iterations_ = std::min(2 * window_iterations_, kLongestWindow);
  }
  next_iteration_ = progress + window_iterations_;
}

double LoopSkipper::pace(const Sample& from, const Sample& to) {
  double iterations = 0;
  for (std::size_t slot = 0; slot < from.progress.size(); ++slot) {
    iterations += to.progress[slot] - from.progress[slot];
  }
  return static_cast<double>(to.time - from.time) / iterations;
}

bool LoopSkipper::steady() const {
  const double earlier = pace(samples_[0], samples_[1]);
  const double later = pace(samples_[1], samples_[2]);
  return std::abs(later - earlier) <= kAgreementPerIteration * window_iterations_ * earlier;
}

std::vector<int> LoopSkipper::texts(const Sample& sample) const {
  std::vector<int> result = sample.loops;
  for (int& loop : result) {
    loop = loop == kNoLoop ? kNoLoop : static_cast<int>(decoded_.loops[static_cast<std::size_t>(loop)].text);
  }
  return result;
}

bool LoopSkipper::goes_on_as_known() const {
  if (samples_.size() < 2 || texts(samples_.back()) != known_texts_) {
    return false;
  }
  const auto windows = static_cast<double>(samples_.size() - 1);
  return std::abs(pace(samples_.front(), samples_.back()) - known_pace_) <=
         kAgreementPerIteration * window_iterations_ * windows * known_pace_;
}

std::optional<LoopSkip> LoopSkipper::skip(const SmCore& core) {
  if (!may_skip_) {
    return std::nullopt;
  }
  may_skip_ = false;
  const Sample& begin = samples_[samples_.size() - 2];
  const Sample& end = samples_.back();
  const sim::Cycles window_cycles = end.time - begin.time;
  const sim::Cycles horizon = std::min(kHorizonCycles, end.time / kElapsedOverSkip);
  std::uint32_t windows =
      std::min(kMostRepeats, static_cast<std::uint32_t>(horizon / std::max<sim::Cycles>(1, window_cycles)));
  const auto warps_per_cta = static_cast<std::size_t>(decoded_.warps_per_cta);
  for (std::size_t warp = 0; warp < end.loops.size(); ++warp) {
    if (end.loops[warp] == kNoLoop) {
      continue;
    }
    const std::size_t slot = warp / warps_per_cta;
    const double per_window = end.progress[slot] - begin.progress[slot];
    const std::size_t depth = decoded_.loops[static_cast<std::size_t>(end.loops[warp])].depth;
    const LoopCounters& counters = core.loop_counters_of(static_cast<int>(warp));
    const std::int64_t left =
        std::int64_t{counters.trips[depth]} - counters.iteration[depth] - 1 - kLastIterations;
    // Half an iteration is kept for rounding.
    windows =
        left < 1 || per_window <= 0
            ? 0
            : std::min(windows, static_cast<std::uint32_t>((static_cast<double>(left) - 0.5) / per_window));
  }
  std::optional<LoopSkip> result;
  if (windows > 0) {
    result.emplace();
    result->windows = windows;
    const std::int64_t cycles = window_cycles * windows;
    result->cycles = static_cast<std::int32_t>((cycles + kArrivalGrid / 2) / kArrivalGrid * kArrivalGrid);
    result->first_slice = begin.slice;
    result->last_slice = end.slice;
    result->loops = end.loops;
    for (std::size_t slot = 0; slot < end.progress.size(); ++slot) {
      const double per_window = end.progress[slot] - begin.progress[slot];
      const auto iterations = static_cast<std::uint32_t>(std::lround(per_window * windows));
      result->iterations.push_back(end.progress[slot] < 0 ? 0 : iterations);
    }
  }
  // Both ends of the window move along, and the next window is compared with it.
  samples_.erase(samples_.begin(), samples_.end() - 2);
  if (result) {
    for (Sample& sample : samples_) {
      sample.time += result->cycles;
      for (std::size_t slot = 0; slot < sample.progress.size(); ++slot) {
        sample.progress[slot] += result->iterations[slot];
      }
      for (std::size_t warp = 0; warp < sample.loops.size(); ++warp) {
        if (sample.loops[warp] != kNoLoop) {
          sample.counters[warp]
              .iteration[decoded_.loops[static_cast<std::size_t>(sample.loops[warp])].depth] +=
              result->iterations[warp / warps_per_cta];
        }
      }
    }
    next_iteration_ += result->iterations[static_cast<std::size_t>(reference_slot(core))];
  }
  return result;
}

}  // namespace warpscope::sm
