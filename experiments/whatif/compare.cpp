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
void add_group(std::vector<ComparedNumber>& all, const std::string& group, const Numbers& a, const Numbers& b,
               double whole) {
  std::map<std::string, std::pair<double, double>> pairs;
  for (const auto& [name, number] : a) {
    pairs[name].first = number;
  }
  for (const auto& [name, number] : b) {
    pairs[name].second = number;
  }
  const std::size_t begin = all.size();
  for (const auto& [name, pair] : pairs) {
    if (const double effect = std::abs(pair.second - pair.first) / std::max(whole, 1e-300); effect > 0) {
      all.push_back({group, name, pair.first, pair.second, effect});
    }
  }
  std::stable_sort(all.begin() + static_cast<std::ptrdiff_t>(begin), all.end(),
                   [](const ComparedNumber& x, const ComparedNumber& y) { return x.effect > y.effect; });
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
  const PointResult& second = result.b.itself();
  add_group(result.numbers, "busy", first.busy, second.busy, 1);
  const Numbers stalls = stalls_per_issue(first);
  add_group(result.numbers, "stalls", stalls, stalls_per_issue(second), total(stalls));
  const Numbers bytes = hbm_bytes(first);
  add_group(result.numbers, "HBM bytes", bytes, hbm_bytes(second), total(bytes));
  add_group(result.numbers, "instructions", instructions(first), instructions(second),
            first.metric("sm__inst_executed.sum"));
  return result;
}

}  // namespace warpscope::experiments
