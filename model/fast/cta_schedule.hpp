// When a grid of unequal CTAs ends: the schedule of CTAs alone, without what happens inside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpscope::fast {

/// CTAs in all schedules of a launch together. Of a launch with more, one CTA more or less at the end no
/// longer matters.
inline constexpr std::size_t kScheduledCtas = 16384;

/// How fast CTAs go on, learned from the SMs that were simulated: so many instructions per cycle in their
/// loops, and a time in which they get there and end. Where they are no slower outside of their loops, there
/// is one pace for all they do.
class CtaPace {
 public:
  explicit CtaPace(int slots, std::size_t sms = 1)
      : loops_(at(slots) + 1), all_(at(slots) + 1), of_sm_(sms, Sums(at(slots) + 1)) {}

  /// SM `sm` with `residents` CTAs, each of them in a loop or not, executed `instructions` in `cycles`.
  void observe(std::size_t sm, int residents, bool in_loops, std::int64_t cycles, std::uint64_t instructions);
  /// Instructions per cycle of each of `residents` CTAs. No less than with more of them, and that of fewer
  /// where so many were never seen.
  double rate(int residents) const;
  /// Cycles that each of `ctas` CTAs took besides its instructions at that rate.
  double overhead_cycles(std::size_t ctas) const;
  /// Standard deviation of the speeds of SMs: what each executed over what it would have at the mean pace of
  /// so many residents. Pairs of CTAs keep their phases, so that an SM stays slow or fast.
  double spread_of_speeds() const;
  int slots() const { return static_cast<int>(all_.size()) - 1; }

 private:
  struct Sum {
    double cycles = 0;
    double instructions = 0;  ///< of all CTAs together
  };
  using Sums = std::vector<Sum>;  ///< by residents
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }
  double rate_in(const Sums& sums, int residents) const;
  /// Cycles of all CTAs besides their instructions at the rate in `sums`.
  double lost_cycles(const Sums& sums) const;
  const Sums& paced_by() const;

  Sums loops_;
  Sums all_;
  std::vector<Sums> of_sm_;
};

/// How CTAs divide what their SM does.
class CtaScatter {
 public:
  /// The simulated CTA number `cta`, in order of dispatch, took so long on SM `sm`.
  void observe(std::size_t cta, std::size_t sm, std::size_t cta_class, std::int64_t cycles);
  /// Shares of CTAs in their SM, relative to the others there: the faster one takes the larger. Times are
  /// compared within a class and a wave, of which `wave` CTAs run at a time. Those of the last wave do not
  /// count, as its end differs from all others. Never empty.
  std::vector<double> shares(std::size_t wave) const;

 private:
  struct Time {
    std::size_t sm = 0;
    std::size_t cta_class = 0;
    double cycles = 0;  ///< 0: not known
  };
  std::vector<Time> times_;
};

/// CTAs to be scheduled, in order of dispatch, and the SMs that they go to.
struct CtaGrid {
  std::vector<double> work;    ///< instructions of each CTA
  std::vector<double> shares;  ///< of each CTA in its SM, relative to the others there
  std::vector<double> speeds;  ///< of each SM; 1 is that of the pace
  double overhead_cycles = 0;  ///< that each CTA takes besides
};

/// Cycles until the last CTA of `grid` has ended: a CTA goes to the SM with the most free slots, and those of
/// one SM divide what it does by their shares.
double makespan(const CtaPace& pace, const CtaGrid& grid);

/// What comes of the chance that CTAs scatter.
struct Makespans {
  double mean = 0;
  double deviation = 0;  ///< standard deviation
};

/// That of `work` (instructions of each CTA) on `sms` SMs, over a few schedules in which each CTA has one of
/// `shares`, and speeds of SMs are spread as those seen.
Makespans makespans(const CtaPace& pace, const std::vector<std::uint64_t>& work, int sms,
                    double overhead_cycles, const std::vector<double>& shares);

}  // namespace warpscope::fast
