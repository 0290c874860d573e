#include "experiments/plot/line_chart.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "experiments/plot/chart_page.hpp"

namespace warpscope::experiments {
namespace {

std::pair<double, double> y_bounds(const LineChart& chart) {
  double least = HUGE_VAL;
  double most = -HUGE_VAL;
  for (const LinePanel& panel : chart.panels) {
    for (const LineSeries& series : panel.series) {
      for (const auto& [x, y] : series.points) {
        least = std::min(least, y);
        most = std::max(most, y);
      }
    }
  }
  return most >= least ? std::pair(least, most) : std::pair(1.0, 1.0);
}

/// Ticks at 1, 2, 5, 10, ... where the axis spans too few powers of ten to be read with these alone.
void add_y_ticks(ChartPage& page, double least, double most) {
  constexpr double kFewDecades = 2.5;
  if (std::log10(most / least) > kFewDecades) {
    page.add("set ytics 10\n");
    return;
  }
  page.add("set ytics (");
  const char* gap = "";
  for (double decade = std::pow(10, std::floor(std::log10(least))); decade <= most; decade *= 10) {
    for (const int digit : {1, 2, 5}) {
      page.add("{}{}", gap, digit * decade);
      gap = ", ";
    }
  }
  page.add(")\n");
}

/// From the first tick to the last, and a little beyond.
std::pair<double, double> x_range(double first, double last, bool linear) {
  if (!linear) {
    constexpr double kMargin = 1.15;
    return {first / kMargin, last * kMargin};
  }
  const double margin = last > first ? 0.04 * (last - first) : std::max(1.0, std::abs(first));
  return {first - margin, last + margin};
}

void add_axes(ChartPage& page, const LineChart& chart, const LinePanel& panel) {
  page.add("{}set xtics (", chart.linear_x ? "" : "set logscale x\n");
  for (std::size_t t = 0; t < panel.x_ticks.size(); ++t) {
    page.add("{}{} {}", t == 0 ? "" : ", ", in_single_quotes(panel.x_ticks[t].second),
             panel.x_ticks[t].first);
  }
  page.add(")\n");
  if (!panel.x_ticks.empty()) {
    const auto [least_x, most_x] =
        x_range(panel.x_ticks.front().first, panel.x_ticks.back().first, chart.linear_x);
    page.add("set xrange [{}:{}]\n", least_x, most_x);
  }
  const auto [least, most] = y_bounds(chart);
  if (chart.linear_y) {
    page.add("set yrange [{}:{}]\n", std::min(0.0, least * 1.08), most * 1.08);
  } else {
    page.add("set logscale y\nset yrange [{}:{}]\n", least / 1.3, most * 1.3);
    add_y_ticks(page, least / 1.3, most * 1.3);
  }
}

}  // namespace

void draw(const LineChart& chart, const std::filesystem::path& stem) {
  ChartPage page(stem, {.panels = chart.panels.size()});
  for (std::size_t p = 0; p < chart.panels.size(); ++p) {
    for (std::size_t s = 0; s < chart.panels[p].series.size(); ++s) {
      page.add("$line_{}_{} << END\n", p, s);
      for (const auto& [x, y] : chart.panels[p].series[s].points) {
        page.add("{} {}\n", x, y);
      }
      page.add("END\n");
    }
  }
  page.begin_panels();
  for (std::size_t p = 0; p < chart.panels.size(); ++p) {
    const LinePanel& panel = chart.panels[p];
    page.begin_panel(p, {panel.title, chart.x_label, chart.y_label});
    if (p == 0) {
      std::vector<LegendEntry> legend;
      for (const LineSeries& series : panel.series) {
        if (!series.name.empty()) {
          legend.push_back({series.name, series.colour, series.colour, true, series.is_reference});
        }
      }
      page.add_head(chart.title, chart.subtitle, legend);
    }
    add_axes(page, chart, panel);
    std::string plot;
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      const LineSeries& series = panel.series[s];
      if (!series.points.empty()) {
        plot +=
            fmt::format("{}  $line_{}_{} using 1:2 with {} lw 2 lc rgb '{}'", plot.empty() ? "" : ", \\\n", p,
                        s, series.is_reference ? "lines dt 2" : "linespoints pt 7 ps 0.5", series.colour);
      }
    }
    // Also a panel without a point has its axes.
    page.add("plot \\\n{}\n", plot.empty() ? "  NaN" : plot);
    if (p == 0) {
      page.remove_head();
    }
  }
  page.draw();
}

}  // namespace warpscope::experiments
