#include "experiments/plot/bar_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/base/files.hpp"
#include "experiments/plot/gnuplot.hpp"

namespace warpscope::experiments {
namespace {

// Sizes in pixels, and in shares of the picture where gnuplot wants those.
constexpr int kWidth = 1280;
constexpr int kPanelHeight = 380;
constexpr int kHeadHeight = 110;
constexpr double kLegendSwatch = 14;
constexpr double kGroupFill = 0.86;  // share of the room of a group that its bars take

std::string in_single_quotes(const std::string& text) {
  std::string result = "'";
  for (const char symbol : text) {
    result += symbol == '\'' ? std::string("''") : std::string(1, symbol);
  }
  return result + "'";
}

/// Writes the gnuplot script of one chart.
class Script {
 public:
  Script(const BarChart& chart, const std::string& output)
      : chart_(chart),
        rows_((chart.panels.size() + 1) / 2),
        height_(kHeadHeight + kPanelHeight * static_cast<int>(rows_)) {
    add("# Drawn by gnuplot.\n");
    add("set terminal svg size {},{} dynamic font 'sans-serif,12' background '#ffffff'\n", kWidth, height_);
    add("set output {}\n", in_single_quotes(output));
    add("set encoding utf8\nunset key\nset border 1 lc rgb '#555555'\nset tics textcolor rgb '#333333'\n"
        "set xtics nomirror scale 0\nset ytics nomirror scale 0\n"
        "set grid ytics lt 1 lc rgb '#e4e4e4' lw 1\nset style fill solid 1.0\n"
        "set lmargin 8\nset rmargin 1\nset tmargin 2.2\nset bmargin 3.2\n");
  }

  std::string text() {
    for (std::size_t p = 0; p < chart_.panels.size(); ++p) {
      add_data(p);
    }
    add("set multiplot\n");
    for (std::size_t p = 0; p < chart_.panels.size(); ++p) {
      add_panel(p);
    }
    add("unset multiplot\n");
    return text_;
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  double down(double pixels) const { return 1 - pixels / height_; }

  double bar_width() const { return kGroupFill / static_cast<double>(chart_.panels.front().series.size()); }

  /// Where a bar stands: groups at 0, 1, 2, ..., series around them.
  double bar_x(std::size_t group, std::size_t series) const {
    const auto count = static_cast<double>(chart_.panels.front().series.size());
    return static_cast<double>(group) + (static_cast<double>(series) - (count - 1) / 2) * bar_width();
  }

  void add_data(std::size_t panel) {
    for (std::size_t s = 0; s < chart_.panels[panel].series.size(); ++s) {
      const BarSeries& series = chart_.panels[panel].series[s];
      add("$bars_{}_{} << END\n", panel, s);
      for (std::size_t g = 0; g < series.values.size(); ++g) {
        // A bar without a value keeps its place, with its label on the axis.
        add("{:.4f} {} \"{}\"\n", bar_x(g, s), series.values[g].value_or(chart_.logarithmic ? bottom() : 0),
            series.labels[g]);
      }
      add("END\n");
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

  /// Title and legend, drawn with the first panel.
  void add_head() {
    constexpr double kLeft = 0.045;
    add("set label 1 {} at screen {},{} left font 'sans-serif:Bold,20' tc rgb '#222222'\n",
        in_single_quotes(chart_.title), kLeft, down(26));
    add("set label 2 {} at screen {},{} left font 'sans-serif,13' tc rgb '#555555'\n",
        in_single_quotes(chart_.subtitle), kLeft, down(52));
    double x = kLeft;
    int tag = 3;
    for (const BarSeries& series : chart_.panels.front().series) {
      add("set object {} rect from screen {:.4f},{:.4f} to screen {:.4f},{:.4f} fc rgb '{}' fs solid border "
          "lc rgb "
          "'{}'\n",
          tag, x, down(88), x + kLegendSwatch / kWidth, down(88 - kLegendSwatch), series.fill, series.border);
      add("set label {} {} at screen {:.4f},{:.4f} left font 'sans-serif,13' tc rgb '#333333'\n", tag,
          in_single_quotes(series.name), x + (kLegendSwatch + 6) / kWidth, down(88 - kLegendSwatch / 2));
      x += (kLegendSwatch + 34 + 7.2 * static_cast<double>(series.name.size())) / kWidth;
      ++tag;
    }
  }

  void add_panel(std::size_t index) {
    const BarPanel& panel = chart_.panels[index];
    const auto row = static_cast<int>(index / 2);
    add("set origin {},{:.5f}\nset size 0.5,{:.5f}\n", index % 2 == 0 ? 0.0 : 0.5,
        down(kHeadHeight + kPanelHeight * (row + 1)), static_cast<double>(kPanelHeight) / height_);
    if (index == 0) {
      add_head();
    }
    add("set title {} font 'sans-serif:Bold,14' tc rgb '#222222' offset 0,-0.4\n",
        in_single_quotes(panel.title));
    add("set ylabel {} tc rgb '#333333' offset 1,0\n",
        in_single_quotes(index % 2 == 0 ? chart_.y_label : ""));
    add("set xlabel {} tc rgb '#333333' offset 0,0.4\n", in_single_quotes(chart_.x_label));
    add("set xtics (");
    for (std::size_t g = 0; g < panel.groups.size(); ++g) {
      add("{}'{}' {}", g == 0 ? "" : ", ", panel.groups[g], g);
    }
    add(")\nset xrange [-0.6:{}]\n", static_cast<double>(panel.groups.size()) - 0.4);
    if (chart_.logarithmic) {
      add("set logscale y\nset yrange [{}:{}]\n", bottom(), largest() * 4);
    } else {
      add("set yrange [0:{}]\n", largest() * 1.16);
    }
    add("set boxwidth {:.4f}\nplot \\\n", bar_width() * 0.94);
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      add("  $bars_{}_{} using 1:2 with boxes fc rgb '{}' fs solid border lc rgb '{}', \\\n", index, s,
          panel.series[s].fill, panel.series[s].border);
    }
    for (std::size_t s = 0; s < panel.series.size(); ++s) {
      add("  $bars_{}_{} using 1:2:3 with labels rotate by 90 left font 'sans-serif,9' tc rgb '#333333' "
          "offset 0,0.35{}\n",
          index, s, s + 1 == panel.series.size() ? "" : ", \\");
    }
    if (index == 0) {
      add("unset label\nunset object\n");
    }
  }

  const BarChart& chart_;
  std::size_t rows_;
  int height_;
  std::string text_;
};

}  // namespace

void draw(const BarChart& chart, const std::filesystem::path& stem) {
  const std::string script = stem.string() + ".gnuplot";
  const std::filesystem::path picture = stem.string() + ".svg";
  // The script draws into its own folder, so that it can be run again wherever that folder is.
  write_file(script, Script(chart, picture.filename().string()).text());
  run_gnuplot(script);
}

}  // namespace warpscope::experiments
