// A unit that serves one request after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace warpscope::memory {

/// Queues count time in parts of an SM cycle, so that a few bytes more or less are not rounded away.
inline constexpr std::int64_t kQueueUnits = 1024;

/// What nobody waits for is told to the memory every so many cycles: about as far apart are SMs in one loop,
/// and longer periods join more accesses. Between 256 and 1024 errors of fast mode differ little.
inline constexpr std::int64_t kBackgroundCycles = 1024;

/// SMs in one loop are so many of these periods apart, in the mean: what all of them ask for in one part of
/// the loop, as its reductions, does not come at once. A step of a backward pass takes up to 10 k cycles.
/// With 8 and 16 periods the mean difference from detailed mode is 6.6 and 1.7 % on five backward passes with
/// a head dimension of 256, 1.95 and 1.86 % on the 27 of detailed_mode.csv, 0.62 and 0.69 % on its 104
/// forward passes.
inline constexpr int kPeriodsApart = 16;

/// Serves what somebody waits for in its order. What nobody waits for, requests of SMs that another one
/// stands for, comes evenly over the periods in which they are there: it takes its part of the unit, makes
/// others wait as random arrivals do (Pollaczek and Khinchine: mean wait = share / (1 - share) * service / 2,
/// for pieces of equal service), and what is more than the unit can do stays in the queue.
class Server {
 public:
  /// A request that comes at `time` and takes `service`. Returns when it begins.
  std::int64_t serve(std::int64_t time, std::int64_t service) {
    std::int64_t begin = std::max(free_, time);
    if (arriving_ + queued_ > 0) {
      begin += wait_for_background(begin, service, free_ >= time);
    }
    free_ = begin + service;
    taken_ += service;
    return begin;
  }
  /// Something that nobody waits for comes from `time` on, in pieces that take `piece` each: in each period
  /// one of `periods_apart` parts of what is still to come.
  void add_background(std::int64_t time, std::int64_t service, std::int64_t piece,
                      int periods_apart = kPeriodsApart) {
    if (time > since_) {
      go_on_to(time);
      arriving_ = 0;
      since_ = time;
    }
    coming_ += service;
    service = coming_ / periods_apart;
    coming_ -= service;
    arriving_ += service;
    piece_ = piece;
    // Somebody may have asked already what lies ahead.
    const std::int64_t late = std::clamp<std::int64_t>(queued_at_ - since_, 0, kPeriod);
    queued_ += service / kBackgroundCycles * (late / kQueueUnits);
  }

 private:
  static constexpr std::int64_t kPeriod = kBackgroundCycles * kQueueUnits;
  static constexpr std::int64_t kWhole = 1024;
  /// Beyond this share the queue itself tells how long it is.
  static constexpr std::int64_t kMostShare = 920;
  /// SMs that wait ask for no more, so that the queue does not grow forever.
  static constexpr std::int64_t kMostQueued = 8 * kPeriod;

  /// Lets background come and be served up to `time`.
  void go_on_to(std::int64_t time) {
    const auto pass = [&](std::int64_t end, std::int64_t arriving) {
      if (end > queued_at_) {
        const std::int64_t passed = end - queued_at_;
        // In whole cycles, so that the product stays small.
        const std::int64_t arrived = arriving / kBackgroundCycles * (passed / kQueueUnits);
        const std::int64_t taken = std::min(taken_, passed);
        taken_ -= taken;
        queued_ = std::clamp<std::int64_t>(queued_ + arrived - (passed - taken), 0, kMostQueued);
        queued_at_ = end;
      }
    };
    pass(std::min(time, since_ + kPeriod), arriving_);
    pass(time, 0);
  }

  /// Requests that follow one another at once go on together, up to the length of a piece.
  std::int64_t wait_for_background(std::int64_t time, std::int64_t service, bool follows) {
    if (follows && run_ + service <= piece_) {
      run_ += service;
      return 0;
    }
    run_ = service;
    const bool comes = time < since_ + kPeriod;
    const std::int64_t share = comes ? std::min(kMostShare, arriving_ / (kPeriod / kWhole)) : 0;
    go_on_to(time);
    return queued_ + share * std::max(piece_, service) / (2 * (kWhole - share));
  }

  std::int64_t free_ = 0;
  std::int64_t since_ = 0;     ///< when background was told last
  std::int64_t arriving_ = 0;  ///< over kBackgroundCycles from then on
  std::int64_t queued_ = 0;    ///< of it, at this time
  std::int64_t queued_at_ = 0;
  std::int64_t piece_ = 0;
  std::int64_t coming_ = 0;  ///< in the periods ahead
  std::int64_t taken_ = 0;   ///< from queued_at_ on by those that wait
  std::int64_t run_ = 0;
};

}  // namespace warpscope::memory
