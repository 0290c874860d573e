// Line charts with logarithmic axes, drawn by gnuplot.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace warpscope::experiments {

struct LineSeries {
  std::string name;
  std::string colour;                             ///< "#rrggbb"
  bool is_reference = false;                      ///< dashed, without marks: nothing that was counted
  std::vector<std::pair<double, double>> points;  ///< x and y; on a logarithmic axis both above 0
};

/// The value that a tick of the x axis stands at, and its label.
using Tick = std::pair<double, std::string>;

struct LinePanel {
  std::string title;
  std::vector<Tick> x_ticks;
  std::vector<LineSeries> series;
};

/// Panels in two columns under a common title and legend; the series of the first panel that have a name make
/// the legend. Both
/// axes are logarithmic unless they are said to be linear; all panels have the same y axis.
struct LineChart {
  std::string title;
  std::string subtitle;
  std::string x_label;
  std::string y_label;
  bool linear_y = false;
  std::vector<LinePanel> panels;
  bool linear_x = false;
};

/// Writes `<stem>.gnuplot` and draws `<stem>.svg` with it.
void draw(const LineChart& chart, const std::filesystem::path& stem);

}  // namespace warpscope::experiments
