#include "experiments/plot/bar_chart.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/plot/chart_page.hpp"

namespace warpscope::experiments {
namespace {

constexpr double kGroupFill = 0.86;  // share of the room of a group that its bars take

std::vector<LegendEntry> legend_of(const BarChart& chart) {
  std::vector<LegendEntry> legend;
  for (const BarSeries& series : chart.panels.front().series) {
    legend.push_back({series.name, series.fill, series.border});
  }
  return legend;
}

/// Draws one chart.
class Drawing {
 public:
  Drawing(const BarChart& chart, const std::filesystem::path& stem)
      : chart_(chart),
        legend_(legend_of(chart)),
        page_(stem, {chart.panels.size(), chart.one_column, legend_lines(legend_)}) {}

  void draw() {
    for (std::size_t p = 0; p < chart_.panels.size(); ++p) {
      add_data(p);
    }
    page_.begin_panels();
    for (std::size_t p = 0; p < chart_.panels.size(); ++p) {
      add_panel(p);
    }
    page_.draw();
  }

 private:
  double bar_width() const { return kGroupFill / static_cast<double>(chart_.panels.front().series.size()); }

  /// Where a bar stands: groups at 0, 1, 2, ..., series around them.
  double bar_x(std::size_t group, std::size_t series) const {
    const auto count = static_cast<double>(chart_.panels.front().series.size());
    return static_cast<double>(group) + (static_cast<double>(series) - (count - 1) / 2) * bar_width();
  }

  void add_data(std::size_t panel) {
    for (std::size_t s = 0; s < chart_.panels[panel].series.size(); ++s) {
      const BarSeries& series = chart_.panels[panel].series[s];
      page_.add("$bars_{}_{} << END\n", panel, s);
      for (std::size_t g = 0; g < series.values.size(); ++g) {
        // A bar without a value keeps its place, with its label on the axis.
        page_.add("{:.4f} {} \"{}\"\n", bar_x(g, s),
                  series.values[g].value_or(chart_.logarithmic ? bottom() : 0), series.labels[g]);
      }
      page_.add("END\n");
    }
  }

  double largest() const {
    double largest = 1e-9;
    for (const BarPanel& panel : chart_.panels) {
      for (const BarSeries& series : panel.series) {
        for (const auto& number : series.values) {
          largest = std::max(largest, number.value_or(0));
        }
      }
    }
    return largest;
  }

  /// Of a logarithmic axis.
  double bottom() const {
    double least = largest();
    for (const BarPanel& panel : chart_.panels) {
      for (const BarSeries& series : panel.series) {
        for (const auto& number : series.values) {
          least = number && *number > 0 ? std::min(least, *number) : least;
        }
      }
    }
    return std::pow(10, std::floor(std::log10(least)));
  }

  void add_panel(std::size_t index) {
    const BarPanel& panel = chart_.panels[index];
    page_.begin_panel(index, {panel.title, chart_.x_label, chart_.y_label});
    if (index == 0) {
      page_.add_head(chart_.title, chart_.subtitle, legend_);
    }
    page_.add("set xtics (");
    for (std::size_t g = 0; g < panel.groups.size(); ++g) {
      page_.add("{}'{}' {}", g == 0 ? "" : ", ", panel.groups[g], g);
    }
    page_.add(")\nset xrange [-0.6:{}]\n", static_cast<double>(panel.groups.size()) - 0.4);
    if (chart_.logarithmic) {
      page_.add("set logscale y\nset yrange [{}:{}]\n", bottom(), largest() * 4);
    } else {
      page_.add("set yrange [0:{}]\n", largest() * 1.16);
    }
    page_.add("set boxwidth {:.4f}\nplot \\\n", bar_width() * 0.94);
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      page_.add("  $bars_{}_{} using 1:2 with boxes fc rgb '{}' fs solid border lc rgb '{}', \\\n", index, s,
                panel.series[s].fill, panel.series[s].border);
    }
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      page_.add(
          "  $bars_{}_{} using 1:2:3 with labels rotate by 90 left font 'sans-serif,9' tc rgb '#333333' "
          "offset 0,0.35{}\n",
          index, s, s + 1 == panel.series.size() ? "" : ", \\");
    }
    if (index == 0) {
      page_.remove_head();
    }
  }

  const BarChart& chart_;
  std::vector<LegendEntry> legend_;
  ChartPage page_;
};

}  // namespace

void draw(const BarChart& chart, const std::filesystem::path& stem) {
  Drawing(chart, stem).draw();
}

}  // namespace warpscope::experiments
