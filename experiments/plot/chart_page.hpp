// What all charts share: a page of panels, in two columns if there is more than one, under a title and a
// legend, as a gnuplot script.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <utility>

namespace warpscope::experiments {

/// A box, or a line with its points, and what it stands for.
struct LegendEntry {
  std::string name;
  std::string fill;    ///< "#rrggbb"
  std::string border;  ///< "#rrggbb"
  bool is_line = false;
  bool is_dashed = false;
};

struct PanelLabels {
  std::string title;
  std::string x;
  std::string y;
};

struct PageLayout {
  std::size_t panels = 1;
  bool one_column = false;  ///< else two, unless there is one panel
  int legend_lines = 1;     ///< that add_head() may fill
};

/// `text` as a string of gnuplot.
std::string in_single_quotes(const std::string& text);

/// Lines that a legend takes.
int legend_lines(std::span<const LegendEntry> legend);

/// Builds the script of one page, which draws `stem`.svg into the folder that the script lies in.
class ChartPage {
 public:
  ChartPage(const std::filesystem::path& stem, const PageLayout& layout);

  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  /// From the data blocks to the panels.
  void begin_panels() { add("set multiplot\n"); }
  /// Title and legend, in the state of the first panel: between its begin_panel() and its plot.
  void add_head(const std::string& title, const std::string& subtitle, std::span<const LegendEntry> legend);
  void remove_head() { add("unset label\nunset object\nunset arrow\n"); }
  void begin_panel(std::size_t index, const PanelLabels& labels);
  /// Writes `stem`.gnuplot and draws with it. Throws UsageError where gnuplot is missing or fails.
  void draw();

 private:
  /// Pixels from the top as gnuplot's share of the height.
  double down(double pixels) const { return 1 - pixels / height_; }
  void add_swatch(int tag, double left, double from_top, const LegendEntry& entry);

  std::filesystem::path stem_;
  int columns_;
  int head_height_;  ///< pixels, as all sizes
  int height_;
  std::string text_;
};

}  // namespace warpscope::experiments
