#include "experiments/whatif/compare.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

using Numbers = std::vector<std::pair<std::string, double>>;

/// Pairs the numbers of one name; one that a side lacks is 0 there. The effect is the difference as a part of
/// `whole`, which makes numbers of one group comparable.
void add_group(std::vector<ComparedNumber>& all, const std::string& group, const Ensemble& a,
               const Ensemble& b, Numbers (*numbers_of)(const PointResult& result), double whole) {
  std::map<std::string, std::pair<std::vector<double>, std::vector<double>>> pairs;  // by member
  const auto collect = [&](const Ensemble& side, auto member_of_pair) {
    for (std::size_t i = 0; i < side.members.size(); ++i) {
      for (const auto& [name, number] : numbers_of(side.members[i])) {
        auto& [of_a, of_b] = pairs[name];
        of_a.resize(a.members.size());
        of_b.resize(b.members.size());
        (pairs[name].*member_of_pair)[i] = number;
      }
    }
  };
  using Pair = std::pair<std::vector<double>, std::vector<double>>;
  collect(a, &Pair::first);
  collect(b, &Pair::second);
  const std::size_t begin = all.size();
  for (const auto& [name, pair] : pairs) {
    const double of_a = pair.first.front();
    const double of_b = pair.second.front();
    if (const double effect = std::abs(of_b - of_a) / std::max(whole, 1e-300); effect > 0) {
      all.push_back({group, name, of_a, of_b, plus_minus(pair.first, pair.second), effect});
    }
  }
  std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(),
                   [](const ComparedNumber& x, const ComparedNumber& y) { return x.effect > y.effect; });
}

Numbers busy(const PointResult& result) {
  return result.busy;
}

Numbers stalls_per_issue(const PointResult& result) {
  constexpr std::string_view kBegin = "smsp__average_warps_issue_stalled_";
  constexpr std::string_view kEnd = "_per_issue_active.ratio";
  Numbers numbers;
  for (const auto& [name, number] : result.metrics) {
    if (name.starts_with(kBegin) && name.ends_with(kEnd)) {
      numbers.emplace_back(name.substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size()), number);
    }
  }
  return numbers;
}

Numbers hbm_bytes(const PointResult& result) {
  Numbers numbers;
  for (const TensorRow& row : result.traffic) {
    numbers.emplace_back(row.tensor, static_cast<double>(row.read_bytes + row.write_bytes));
  }
  return numbers;
}

/// Instructions by pipe and kind.
Numbers instructions(const PointResult& result) {
  Numbers numbers;
  for (const auto& [name, number] : result.metrics) {
    if (name.find("__inst_executed") != std::string::npos && name.ends_with(".sum")) {
      numbers.emplace_back(name, number);
    }
  }
  return numbers;
}

double total(const Numbers& numbers) {
  double sum = 0;
  for (const auto& [name, number] : numbers) {
    sum += number;
  }
  return sum;
}

}  // namespace

Comparison compare(const Point& a, const Point& b, const PoolOptions& workers) {
  std::vector<Ensemble> sides = run_ensembles(std::array{a, b}, workers, "compare");
  for (const Ensemble& side : sides) {
    if (!side.error.empty()) {
      throw UsageError(side.error);
    }
  }
  return compare(std::move(sides[0]), std::move(sides[1]));
}

Comparison compare(Ensemble a, Ensemble b) {
  Comparison result{std::move(a), std::move(b), {}, {}};
  result.time = difference(result.a, result.b);
  const PointResult& first = result.a.itself();
  add_group(result.numbers, "busy", result.a, result.b, &busy, 1);
  add_group(result.numbers, "stalls", result.a, result.b, &stalls_per_issue, total(stalls_per_issue(first)));
  add_group(result.numbers, "HBM bytes", result.a, result.b, &hbm_bytes, total(hbm_bytes(first)));
  add_group(result.numbers, "instructions", result.a, result.b, &instructions,
            first.metric("sm__inst_executed.sum"));
  return result;
}

}  // namespace warpscope::experiments
