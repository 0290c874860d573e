// When a grid of unequal CTAs ends: the schedule of CTAs alone, without what happens inside them.
#pragma once

#include <cstdint>
#include <vector>

namespace warpscope::gpu {

/// How fast CTAs go on, learned from the SMs that were simulated: so many instructions per cycle in their
/// loops, and a time in which they get there and end.
class CtaPace {
 public:
  explicit CtaPace(int slots) : loops_(at(slots) + 1), all_(at(slots) + 1) {}

  /// An SM with `residents` CTAs, each of them in a loop or not, executed `instructions` in `cycles`.
  void observe(int residents, bool in_loops, std::int64_t cycles, std::uint64_t instructions);
  /// Instructions per cycle of each of `residents` CTAs. No less than with more of them, and that of fewer
  /// where so many were never seen.
  double rate(int residents) const;
  /// Cycles that each of `ctas` CTAs took besides its instructions at that rate.
  double overhead_cycles(std::size_t ctas) const;
  int slots() const { return static_cast<int>(all_.size()) - 1; }

 private:
  struct Sum {
    double cycles = 0;
    double instructions = 0;  ///< of all CTAs together
  };
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  std::vector<Sum> loops_;  ///< by residents
  std::vector<Sum> all_;    ///< likewise
};

/// How the times of CTAs scatter that ran at the same time on several SMs.
class CtaScatter {
 public:
  /// The simulated CTA number `cta`, in order of dispatch, took so long.
  void observe(std::size_t cta, std::size_t cta_class, std::int64_t cycles);
  /// Times over the mean of their class and wave; `wave` CTAs run at a time. Those of the last wave do not
  /// count, as its end differs from all others. Never empty.
  std::vector<double> factors(std::size_t wave) const;

 private:
  struct Time {
    std::size_t cta_class = 0;
    double cycles = 0;  ///< 0: not known
  };
  std::vector<Time> times_;
};

/// Cycles until the last of `work` (instructions of each CTA, in order of dispatch) has ended on `sms` SMs: a
/// CTA goes to the SM with the most free slots, those of one SM share it evenly, and each takes
/// `overhead_cycles` besides.
double makespan(const CtaPace& pace, const std::vector<double>& work, int sms, double overhead_cycles);

/// What may come of the chance that CTAs scatter.
struct Makespans {
  double mean = 0;
  double least = 0;
  double most = 0;
};

/// That over a few schedules in which each CTA takes one of `factors` times its work.
Makespans makespans(const CtaPace& pace, const std::vector<std::uint64_t>& work, int sms,
                    double overhead_cycles, const std::vector<double>& factors);

}  // namespace warpscope::gpu
