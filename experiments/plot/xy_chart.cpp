#include "experiments/plot/xy_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "experiments/data/number.hpp"

namespace warpscope::experiments {
namespace {

/// After Okabe and Ito, for readers who do not see all colours.
constexpr std::array<const char*, kMostLines> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                          "#e69f00", "#56b4e9", "#444444", "#b8a800"};

/// All of the numbers, or so many that their labels have room, the first and the last among them.
std::vector<Tick> ticks(std::span<const double> sorted) {
  constexpr std::size_t kMostTicks = 12;
  const std::size_t count = std::min(kMostTicks, sorted.size());
  std::vector<Tick> result;
  for (std::size_t t = 0; t < count; ++t) {
    const double number = sorted[count == 1 ? 0 : t * (sorted.size() - 1) / (count - 1)];
    result.emplace_back(number, fmt::format("{}", number));
  }
  return result;
}

}  // namespace

bool is_like_powers(std::span<const double> numbers) {
  constexpr double kWide = 8;
  std::vector<double> sorted(numbers.begin(), numbers.end());
  std::ranges::sort(sorted);
  if (sorted.empty() || sorted.front() <= 0 || sorted.back() <= kWide * sorted.front()) {
    return false;
  }
  const double geometric = std::sqrt(sorted.front() * sorted.back());
  const double arithmetic = (sorted.front() + sorted.back()) / 2;
  return sorted[sorted.size() / 2] < std::sqrt(geometric * arithmetic);
}

std::string line_label(const std::string& name, const std::string& value) {
  return finite_number(value) ? fmt::format("{} {}", name, value) : value;
}

LineChart xy_chart(const std::string& title, const std::string& x_label, const std::string& y_label,
                   std::span<const XyPoint> points, const std::string& subtitle) {
  LinePanel panel;
  std::vector<double> numbers;
  for (const XyPoint& point : points) {
    auto line = std::ranges::find(panel.series, point.line, &LineSeries::name);
    if (line == panel.series.end()) {
      panel.series.push_back({point.line, kColours.at(panel.series.size()), false, {}});
      line = panel.series.end() - 1;
    }
    line->points.emplace_back(point.x, point.y);
    numbers.push_back(point.x);
  }
  for (LineSeries& line : panel.series) {
    std::ranges::stable_sort(line.points, {}, &std::pair<double, double>::first);
  }
  std::ranges::sort(numbers);
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  panel.x_ticks = ticks(numbers);
  return {title, subtitle, x_label, y_label, true, {std::move(panel)}, !is_like_powers(numbers)};
}

}  // namespace warpscope::experiments
