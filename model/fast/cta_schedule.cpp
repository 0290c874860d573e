#include "model/fast/cta_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <queue>
#include <utility>

#include "model/base/spread_hash.hpp"

namespace warpscope::fast {
namespace {

/// Schedules that are averaged, at most, and CTAs in all of them, about.
constexpr std::size_t kMostSchedules = 16;
constexpr std::size_t kScheduledCtas = 16384;

/// Speeds of SMs are spread at least this far, whatever few of them show. With no spread whole waves would
/// end at once, and the last CTAs would find a slot on every SM.
constexpr double kLeastSpread = 0.003;

/// Cycles, or instructions, within which CTAs end together.
constexpr double kSameTime = 1e-3;

/// An SM and its CTAs, the oldest first.
struct SharedSm {
  struct Cta {
    double left = 0;  ///< instructions
    double chance = 1;
    double rate = 0;  ///< instructions per cycle
  };
  double speed = 1;
  double time = 0;  ///< at which they have these left
  std::vector<Cta> residents{};

  /// They go on at so many instructions per cycle together. Returns the cycles until the next of them ends.
  double divide(double rate, const std::vector<double>& by_age) {
    double shares = 0;
    for (std::size_t age = 0; age < residents.size(); ++age) {
      shares += by_age[age] * residents[age].chance;
    }
    double cycles = std::numeric_limits<double>::infinity();
    for (std::size_t age = 0; age < residents.size(); ++age) {
      Cta& cta = residents[age];
      cta.rate = rate * speed * by_age[age] * cta.chance / shares;
      cycles = std::min(cycles, cta.left / cta.rate);
    }
    return cycles;
  }
  void go_on_to(double now) {
    for (Cta& cta : residents) {
      cta.left -= (now - time) * cta.rate;
    }
    time = now;
    std::erase_if(residents, [](const Cta& cta) { return cta.left <= kSameTime; });
  }
};

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Standard deviation of what the values are a sample of; 0 where that cannot be told.
double deviation_of(const std::vector<double>& values) {
  if (values.size() < 2) {
    return 0;
  }
  const double mean = mean_of(values);
  double squares = 0;
  for (const double value : values) {
    squares += (value - mean) * (value - mean);
  }
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

}  // namespace

void CtaPace::observe(std::size_t sm, int residents, bool in_loops, std::int64_t cycles,
                      std::uint64_t instructions) {
  for (Sum* sum :
       {&all_[at(residents)], &of_sm_[sm][at(residents)], in_loops ? &loops_[at(residents)] : nullptr}) {
    if (sum != nullptr) {
      sum->cycles += static_cast<double>(cycles);
      sum->instructions += static_cast<double>(instructions);
    }
  }
}

double CtaPace::rate_in(const Sums& sums, int residents) const {
  const auto rate_of = [&](int n) {
    const Sum& sum = sums[at(n)];
    return sum.cycles > 0 ? sum.instructions / sum.cycles / n : 0;
  };
  double best = 0;
  for (int n = residents; n <= slots(); ++n) {
    best = std::max(best, rate_of(n));
  }
  for (int n = residents - 1; best == 0 && n > 0; --n) {
    best = rate_of(n);
  }
  return best > 0 ? best : 1;
}

double CtaPace::lost_cycles(const Sums& sums) const {
  double cycles = 0;
  for (int n = 1; n <= slots(); ++n) {
    cycles += all_[at(n)].cycles * n - all_[at(n)].instructions / rate_in(sums, n);
  }
  return cycles;
}

const CtaPace::Sums& CtaPace::paced_by() const {
  const bool any = std::ranges::any_of(loops_, [](const Sum& sum) { return sum.instructions > 0; });
  return any && lost_cycles(loops_) >= 0 ? loops_ : all_;
}

double CtaPace::rate(int residents) const {
  return rate_in(paced_by(), residents);
}

double CtaPace::overhead_cycles(std::size_t ctas) const {
  return std::max(0.0, lost_cycles(paced_by()) / static_cast<double>(ctas));
}

double CtaPace::spread_of_speeds() const {
  std::vector<double> speeds;
  for (const Sums& sums : of_sm_) {
    double executed = 0;
    double expected = 0;
    for (int n = 1; n <= slots(); ++n) {
      executed += sums[at(n)].instructions;
      expected += sums[at(n)].cycles * rate_in(all_, n) * n;
    }
    if (expected > 0) {
      speeds.push_back(executed / expected);
    }
  }
  return std::max(kLeastSpread, deviation_of(speeds));
}

double makespan(const CtaPace& pace, const std::vector<std::vector<double>>& by_age, const CtaGrid& grid) {
  std::vector<double> rate_of_sm = {0};
  for (int n = 1; n <= pace.slots(); ++n) {
    rate_of_sm.push_back(pace.rate(n) * n);
  }
  std::vector<SharedSm> chip;
  for (const double speed : grid.speeds) {
    chip.push_back({.speed = speed});
  }
  using End = std::pair<double, std::size_t>;  // time, SM
  std::priority_queue<End, std::vector<End>, std::greater<>> next;
  // Overhead counts as work at the pace of a full SM.
  const double overhead = grid.overhead_cycles * pace.rate(pace.slots());
  std::size_t begun = 0;
  double now = 0;
  std::vector<std::size_t> freed(chip.size());
  std::iota(freed.begin(), freed.end(), std::size_t{0});
  while (true) {
    // Where several SMs have room at once, it is filled breadth first.
    for (std::size_t residents = 0; residents < rate_of_sm.size() - 1; ++residents) {
      for (const std::size_t index : freed) {
        if (begun < grid.work.size() && chip[index].residents.size() == residents) {
          chip[index].residents.push_back({grid.work[begun] + overhead, grid.chances[begun]});
          ++begun;
        }
      }
    }
    for (const std::size_t index : freed) {
      SharedSm& sm = chip[index];
      if (const std::size_t residents = sm.residents.size(); residents > 0) {
        next.emplace(now + sm.divide(rate_of_sm[residents], by_age[residents]), index);
      }
    }
    if (next.empty()) {
      return now;
    }
    now = next.top().first;
    freed.clear();
    while (!next.empty() && next.top().first <= now + kSameTime) {
      chip[next.top().second].go_on_to(now);
      freed.push_back(next.top().second);
      next.pop();
    }
  }
}

Makespans makespans(const CtaPace& pace, const Shares& shares, const std::vector<std::uint64_t>& work,
                    int sms, double overhead_cycles) {
  const std::size_t schedules = std::clamp(kScheduledCtas / work.size(), std::size_t{1}, kMostSchedules);
  // Evenly spread, up to sqrt(3) standard deviations from the mean.
  const double widest = std::min(0.5, pace.spread_of_speeds() * std::numbers::sqrt3);
  std::uint64_t drawn = 0;
  std::vector<double> ends;
  for (std::size_t schedule = 0; schedule < schedules; ++schedule) {
    CtaGrid grid{.work = std::vector<double>(work.begin(), work.end()),
                 .chances = {},
                 .speeds = {},
                 .overhead_cycles = overhead_cycles};
    for (std::size_t cta = 0; cta < work.size(); ++cta) {
      grid.chances.push_back(shares.chances[spread_hash(++drawn) % shares.chances.size()]);
    }
    for (int sm = 0; sm < sms; ++sm) {
      grid.speeds.push_back(1 +
                            widest * (2 * std::ldexp(static_cast<double>(spread_hash(++drawn)), -32) - 1));
    }
    ends.push_back(makespan(pace, shares.by_age, grid));
  }
  return {.mean = mean_of(ends), .deviation = deviation_of(ends)};
}

}  // namespace warpscope::fast
