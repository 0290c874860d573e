#include "model/gpu/cta_schedule.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <queue>
#include <utility>

namespace warpscope::gpu {
namespace {

/// Schedules that are averaged, at most, and CTAs in all of them, about.
constexpr std::size_t kMostSchedules = 16;
constexpr std::size_t kScheduledCtas = 16384;

/// Fewer CTAs of a class in a wave tell nothing of how they scatter.
constexpr double kFewestAlike = 4;

/// Cycles, or instructions, within which CTAs end together.
constexpr double kSameTime = 1e-3;

/// CTAs of one SM advance alike, so one count of instructions since the start serves all of them.
struct SharedSm {
  double time = 0;                                                          ///< of `progress`
  double progress = 0;                                                      ///< per CTA
  std::priority_queue<double, std::vector<double>, std::greater<>> ends{};  ///< progress at which CTAs end
};

}  // namespace

void CtaPace::observe(int residents, bool in_loops, std::int64_t cycles, std::uint64_t instructions) {
  for (Sum* sum : {&all_[at(residents)], in_loops ? &loops_[at(residents)] : nullptr}) {
    if (sum != nullptr) {
      sum->cycles += static_cast<double>(cycles);
      sum->instructions += static_cast<double>(instructions);
    }
  }
}

double CtaPace::rate(int residents) const {
  double best = 0;
  for (const std::vector<Sum>* sums : {&loops_, &all_}) {
    const auto rate_of = [&](int n) {
      const Sum& sum = (*sums)[at(n)];
      return sum.cycles > 0 ? sum.instructions / sum.cycles / n : 0;
    };
    for (int n = residents; n <= slots(); ++n) {
      best = std::max(best, rate_of(n));
    }
    for (int n = residents - 1; best == 0 && n > 0; --n) {
      best = rate_of(n);
    }
    if (best > 0) {
      return best;
    }
  }
  return 1;
}

double CtaPace::overhead_cycles(std::size_t ctas) const {
  double cycles = 0;
  for (int n = 1; n <= slots(); ++n) {
    cycles += all_[at(n)].cycles * n - all_[at(n)].instructions / rate(n);
  }
  return std::max(0.0, cycles / static_cast<double>(ctas));
}

void CtaScatter::observe(std::size_t cta, std::size_t cta_class, std::int64_t cycles) {
  times_.resize(std::max(times_.size(), cta + 1));
  times_[cta] = {cta_class, static_cast<double>(cycles)};
}

std::vector<double> CtaScatter::factors(std::size_t wave) const {
  struct Mean {
    double sum = 0;
    double count = 0;
  };
  std::vector<double> result;
  for (std::size_t begin = 0; begin + 2 * wave <= times_.size(); begin += wave) {
    std::map<std::size_t, Mean> means;
    for (std::size_t cta = begin; cta < begin + wave; ++cta) {
      Mean& mean = means[times_[cta].cta_class];
      mean.sum += times_[cta].cycles;
      ++mean.count;
    }
    for (std::size_t cta = begin; cta < begin + wave; ++cta) {
      const Mean& mean = means[times_[cta].cta_class];
      if (mean.count >= kFewestAlike && mean.sum > 0) {
        result.push_back(times_[cta].cycles * mean.count / mean.sum);
      }
    }
  }
  if (result.empty()) {
    result.push_back(1);
  }
  return result;
}

double makespan(const CtaPace& pace, const std::vector<double>& work, int sms, double overhead_cycles) {
  std::vector<double> rate = {0};
  for (int n = 1; n <= pace.slots(); ++n) {
    rate.push_back(pace.rate(n));
  }
  std::vector<SharedSm> chip(static_cast<std::size_t>(sms));
  using End = std::pair<double, std::size_t>;  // time, SM
  std::priority_queue<End, std::vector<End>, std::greater<>> next;
  const auto advance = [&](SharedSm& sm, double now) {
    sm.progress += (now - sm.time) * rate[sm.ends.size()];
    sm.time = now;
  };
  const auto announce = [&](std::size_t index) {
    const SharedSm& sm = chip[index];
    next.emplace(sm.time + (sm.ends.top() - sm.progress) / rate[sm.ends.size()], index);
  };
  std::size_t begun = 0;
  // Overhead counts as work at the pace of a full SM.
  const auto begin = [&](SharedSm& sm) {
    sm.ends.push(sm.progress + work[begun++] + overhead_cycles * rate.back());
  };
  for (int slot = 0; slot < pace.slots(); ++slot) {
    for (std::size_t index = 0; index < chip.size() && begun < work.size(); ++index) {
      begin(chip[index]);
    }
  }
  for (std::size_t index = 0; index < chip.size(); ++index) {
    if (!chip[index].ends.empty()) {
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
      advance(sm, end);
      while (!sm.ends.empty() && sm.ends.top() <= sm.progress + kSameTime) {
        sm.ends.pop();
      }
      freed.push_back(index);
    }
    // Where several SMs have room at once, it is filled breadth first.
    for (std::size_t residents = 0; residents < rate.size() - 1; ++residents) {
      for (const std::size_t index : freed) {
        if (begun < work.size() && chip[index].ends.size() == residents) {
          begin(chip[index]);
        }
      }
    }
    for (const std::size_t index : freed) {
      if (!chip[index].ends.empty()) {
        announce(index);
      }
    }
  }
  return end;
}

Makespans makespans(const CtaPace& pace, const std::vector<std::uint64_t>& work, int sms,
                    double overhead_cycles, const std::vector<double>& factors) {
  const std::size_t schedules = std::clamp(kScheduledCtas / work.size(), std::size_t{1}, kMostSchedules);
  std::uint64_t drawn = 0;
  Makespans result{.mean = 0, .least = std::numeric_limits<double>::max(), .most = 0};
  for (std::size_t schedule = 0; schedule < schedules; ++schedule) {
    std::vector<double> varied;
    varied.reserve(work.size());
    for (const std::uint64_t instructions : work) {
      const std::uint64_t hash = (++drawn * 0x9e3779b97f4a7c15ULL) >> 32;
      varied.push_back(static_cast<double>(instructions) * factors[hash % factors.size()]);
    }
    const double end = makespan(pace, varied, sms, overhead_cycles);
    result.mean += end / static_cast<double>(schedules);
    result.least = std::min(result.least, end);
    result.most = std::max(result.most, end);
  }
  return result;
}

}  // namespace warpscope::gpu
