#include "model/fast/cta_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <numeric>
#include <queue>
#include <span>
#include <utility>

#include "model/base/spread_hash.hpp"

namespace warpscope::fast {
namespace {

/// Cycles, or instructions, within which CTAs end together.
constexpr double kSameTime = 1e-3;

/// A CTA on its SM.
struct RunningCta {
  double end = 0;  ///< progress of the SM at which it ends
  double share = 1;

  bool operator>(const RunningCta& other) const { return end > other.end; }
};

/// CTAs of one SM advance by their shares, so one count of instructions per share serves all of them.
struct SharedSm {
  double speed = 1;
  double time = 0;  ///< of `progress`
  double progress = 0;
  double shares = 0;  ///< of its residents
  std::priority_queue<RunningCta, std::vector<RunningCta>, std::greater<>> residents{};
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
  return deviation_of(speeds);
}

void CtaScatter::observe(std::size_t cta, std::size_t sm, std::size_t cta_class, std::int64_t cycles) {
  times_.resize(std::max(times_.size(), cta + 1));
  times_[cta] = {sm, cta_class, static_cast<double>(cycles)};
}

std::vector<double> CtaScatter::shares(std::size_t wave) const {
  struct Mean {
    double sum = 0;
    double count = 0;
    void add(double value) {
      sum += value;
      ++count;
    }
  };
  std::vector<double> result;
  for (std::size_t begin = 0; begin + 2 * wave <= times_.size(); begin += wave) {
    const std::span<const Time> times(&times_[begin], wave);
    std::map<std::size_t, Mean> of_class;
    for (const Time& time : times) {
      of_class[time.cta_class].add(time.cycles);
    }
    // Over the mean of its class, so that CTAs of several classes compare on an SM.
    const auto relative = [&](const Time& time) {
      const Mean& mean = of_class[time.cta_class];
      return mean.count > 1 ? time.cycles * mean.count / mean.sum : 0;
    };
    std::map<std::size_t, Mean> of_sm;
    for (const Time& time : times) {
      if (const double value = relative(time); value > 0) {
        of_sm[time.sm].add(value);
      }
    }
    for (const Time& time : times) {
      if (const double value = relative(time); value > 0) {
        const Mean& mean = of_sm[time.sm];
        result.push_back(mean.sum / mean.count / value);
      }
    }
  }
  if (result.empty()) {
    result.push_back(1);
  }
  return result;
}

double makespan(const CtaPace& pace, const CtaGrid& grid) {
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
  const auto pace_of = [&](const SharedSm& sm) {
    return sm.speed * rate_of_sm[sm.residents.size()] / sm.shares;
  };
  const auto announce = [&](std::size_t index) {
    const SharedSm& sm = chip[index];
    next.emplace(sm.time + (sm.residents.top().end - sm.progress) / pace_of(sm), index);
  };
  // Overhead counts as work at the pace of a full SM.
  const double overhead = grid.overhead_cycles * pace.rate(pace.slots());
  std::size_t begun = 0;
  const auto begin = [&](SharedSm& sm) {
    const double share = grid.shares[begun];
    sm.residents.push({sm.progress + (grid.work[begun] + overhead) / share, share});
    sm.shares += share;
    ++begun;
  };
  for (int slot = 0; slot < pace.slots(); ++slot) {
    for (std::size_t index = 0; index < chip.size() && begun < grid.work.size(); ++index) {
      begin(chip[index]);
    }
  }
  for (std::size_t index = 0; index < chip.size(); ++index) {
    if (!chip[index].residents.empty()) {
      announce(index);
    }
  }
  double end = 0;
  std::vector<std::size_t> freed;
  while (!next.empty()) {
    end = next.top().first;
    freed.clear();
    while (!next.empty() && next.top().first <= end + kSameTime) {
      const std::size_t index = next.top().second;
      next.pop();
      SharedSm& sm = chip[index];
      sm.progress += (end - sm.time) * pace_of(sm);
      sm.time = end;
      while (!sm.residents.empty() && sm.residents.top().end <= sm.progress + kSameTime) {
        sm.shares -= sm.residents.top().share;
        sm.residents.pop();
      }
      freed.push_back(index);
    }
    // Where several SMs have room at once, it is filled breadth first.
    for (std::size_t residents = 0; residents < rate_of_sm.size() - 1; ++residents) {
      for (const std::size_t index : freed) {
        if (begun < grid.work.size() && chip[index].residents.size() == residents) {
          begin(chip[index]);
        }
      }
    }
    for (const std::size_t index : freed) {
      if (!chip[index].residents.empty()) {
        announce(index);
      }
    }
  }
  return end;
}

Makespans makespans(const CtaPace& pace, const std::vector<std::uint64_t>& work, int sms,
                    double overhead_cycles, const std::vector<double>& shares) {
  const std::size_t schedules = std::max(kScheduledCtas / work.size(), std::size_t{1});
  // Evenly spread, up to sqrt(3) standard deviations from the mean.
  const double widest = std::min(0.5, pace.spread_of_speeds() * std::numbers::sqrt3);
  std::uint64_t drawn = 0;
  std::vector<double> ends;
  for (std::size_t schedule = 0; schedule < schedules; ++schedule) {
    CtaGrid grid{.work = std::vector<double>(work.begin(), work.end()),
                 .shares = {},
                 .speeds = {},
                 .overhead_cycles = overhead_cycles};
    for (std::size_t cta = 0; cta < work.size(); ++cta) {
      grid.shares.push_back(shares[spread_hash(++drawn) % shares.size()]);
    }
    for (int sm = 0; sm < sms; ++sm) {
      grid.speeds.push_back(1 +
                            widest * (2 * std::ldexp(static_cast<double>(spread_hash(++drawn)), -32) - 1));
    }
    ends.push_back(makespan(pace, grid));
  }
  return {.mean = mean_of(ends), .deviation = deviation_of(ends)};
}

}  // namespace warpscope::fast
