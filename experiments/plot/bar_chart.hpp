// Bar charts like those of papers, drawn by gnuplot.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace warpscope::experiments {

/// One colour of bars, a value for each group.
struct BarSeries {
  std::string name;
  std::string fill;    ///< "#rrggbb"
  std::string border;  ///< "#rrggbb"
  std::vector<std::optional<double>> values;
  std::vector<std::string> labels;  ///< above the bars
};

/// Groups of bars side by side on one pair of axes.
struct BarPanel {
  std::string title;
  std::vector<std::string> groups;
  std::vector<BarSeries> series;
};

/// Panels in two columns, or in one where bars are many, under a common title and legend; the series of the
/// first panel make the legend.
struct BarChart {
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  bool logarithmic = false;
  std::vector<BarPanel> panels;
  bool one_column = false;
};

/// Writes `<stem>.gnuplot`, for those who want to restyle the chart, and draws `<stem>.svg` with it.
void draw(const BarChart& chart, const std::filesystem::path& stem);

}  // namespace warpscope::experiments
