#include "experiments/plot/chart_page.hpp"

#include <vector>

#include "experiments/base/files.hpp"
#include "experiments/base/text_table.hpp"
#include "experiments/plot/gnuplot.hpp"

namespace warpscope::experiments {
namespace {

// Sizes in pixels, and in shares of the picture where gnuplot wants those.
constexpr int kWidth = 1280;
constexpr int kPanelHeight = 380;
constexpr int kHeadHeight = 110;
constexpr double kLeft = 0.045;
constexpr double kLegendSwatch = 14;
constexpr double kLegendLine = 26;
constexpr double kLegendFromTop = 88;
constexpr int kLegendLineHeight = 24;

double swatch_width(const LegendEntry& entry) {
  return entry.is_line ? kLegendLine : kLegendSwatch;
}

/// With the gap to the next one, in pixels.
double entry_width(const LegendEntry& entry) {
  return swatch_width(entry) + 34 + 7.2 * static_cast<double>(display_width(entry.name));
}

/// Where an entry stands, in pixels from the left, and its line from 0.
struct LegendPlace {
  double left = 0;
  int line = 0;
};

std::vector<LegendPlace> legend_places(std::span<const LegendEntry> legend) {
  std::vector<LegendPlace> places;
  LegendPlace next{kLeft * kWidth, 0};
  for (const LegendEntry& entry : legend) {
    if (next.left + entry_width(entry) > kWidth && next.left > kLeft * kWidth) {
      next = {kLeft * kWidth, next.line + 1};
    }
    places.push_back(next);
    next.left += entry_width(entry);
  }
  return places;
}

}  // namespace

std::string in_single_quotes(const std::string& text) {
  std::string result = "'";
  for (const char symbol : text) {
    // A line end would end the string, and what follows would be commands.
    const bool is_control = static_cast<unsigned char>(symbol) < ' ';
    result += symbol == '\'' ? std::string("''") : std::string(1, is_control ? ' ' : symbol);
  }
  return result + "'";
}

int legend_lines(std::span<const LegendEntry> legend) {
  return legend.empty() ? 1 : legend_places(legend).back().line + 1;
}

ChartPage::ChartPage(const std::filesystem::path& stem, const PageLayout& layout)
    : stem_(stem),
      columns_(layout.panels == 1 || layout.one_column ? 1 : 2),
      head_height_(kHeadHeight + kLegendLineHeight * (layout.legend_lines - 1)),
      height_(head_height_ + kPanelHeight * ((static_cast<int>(layout.panels) + columns_ - 1) / columns_)) {
  add("# Drawn by gnuplot.\n");
  add("set terminal svg size {},{} dynamic font 'sans-serif,12' background '#ffffff'\n", kWidth, height_);
  add("set output {}\n", in_single_quotes(stem.filename().string() + ".svg"));
  add("set encoding utf8\nunset key\nset border 1 lc rgb '#555555'\nset tics textcolor rgb '#333333'\n"
      "set xtics nomirror scale 0\nset ytics nomirror scale 0\n"
      "set grid ytics lt 1 lc rgb '#e4e4e4' lw 1\nset style fill solid 1.0\n"
      "set lmargin 8\nset rmargin 1\nset tmargin 2.2\nset bmargin 3.2\n");
}

void ChartPage::add_swatch(int tag, double left, double from_top, const LegendEntry& entry) {
  const double x = left / kWidth;
  const double right = x + swatch_width(entry) / kWidth;
  if (entry.is_line) {
    const double middle = down(from_top - kLegendSwatch / 2);
    add("set arrow {} from screen {:.4f},{:.4f} to screen {:.4f},{:.4f} nohead lw 2 lc rgb '{}'{}\n", tag, x,
        middle, right, middle, entry.border, entry.is_dashed ? " dt 2" : "");
    return;
  }
  add("set object {} rect from screen {:.4f},{:.4f} to screen {:.4f},{:.4f} fc rgb '{}' fs solid border "
      "lc rgb '{}'\n",
      tag, x, down(from_top), right, down(from_top - kLegendSwatch), entry.fill, entry.border);
}

void ChartPage::add_head(const std::string& title, const std::string& subtitle,
                         std::span<const LegendEntry> legend) {
  add("set label 1 {} at screen {},{} left noenhanced font 'sans-serif:Bold,20' tc rgb '#222222'\n",
      in_single_quotes(title), kLeft, down(26));
  add("set label 2 {} at screen {},{} left noenhanced font 'sans-serif,13' tc rgb '#555555'\n",
      in_single_quotes(subtitle), kLeft, down(52));
  const std::vector<LegendPlace> places = legend_places(legend);
  int tag = 3;
  for (std::size_t i = 0; i < legend.size(); ++i) {
    const LegendEntry& entry = legend[i];
    const double from_top = kLegendFromTop + places[i].line * kLegendLineHeight;
    add_swatch(tag, places[i].left, from_top, entry);
    add("set label {} {} at screen {:.4f},{:.4f} left noenhanced font 'sans-serif,13' tc rgb '#333333'\n",
        tag, in_single_quotes(entry.name), (places[i].left + swatch_width(entry) + 6) / kWidth,
        down(from_top - kLegendSwatch / 2));
    ++tag;
  }
}

void ChartPage::begin_panel(std::size_t index, const PanelLabels& labels) {
  const int row = static_cast<int>(index) / columns_;
  const int column = static_cast<int>(index) % columns_;
  add("set origin {},{:.5f}\nset size {},{:.5f}\n", column == 0 ? 0.0 : 0.5,
      down(head_height_ + kPanelHeight * (row + 1)), 1.0 / columns_,
      static_cast<double>(kPanelHeight) / height_);
  add("set title {} font 'sans-serif:Bold,14' tc rgb '#222222' offset 0,-0.4\n",
      in_single_quotes(labels.title));
  add("set ylabel {} noenhanced tc rgb '#333333' offset 1,0\n",
      in_single_quotes(column == 0 ? labels.y : ""));
  add("set xlabel {} noenhanced tc rgb '#333333' offset 0,0.4\n", in_single_quotes(labels.x));
}

void ChartPage::draw() {
  add("unset multiplot\n");
  const std::string script = stem_.string() + ".gnuplot";
  // The script draws into its own folder, so that it can be run again wherever that folder is.
  write_file(script, text_);
  run_gnuplot(script);
}

}  // namespace warpscope::experiments
