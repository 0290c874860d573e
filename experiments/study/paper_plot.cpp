// The charts of paper-figures.
#include <fmt/format.h>

#include <functional>

#include "experiments/report/text_report.hpp"
#include "experiments/study/forward_grid.hpp"
#include "experiments/study/paper_figures.hpp"
#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

void add_bar(BarSeries& series, std::optional<double> number, const char* absent) {
  series.values.push_back(number);
  series.labels.push_back(number ? fmt::format("{:.0f}", *number) : absent);
}

/// Bars of one panel and method, by length.
using Bars = std::vector<const PaperBar*>;

BarSeries series_of(std::string name, std::string_view fill, const PaperMethod& method, const Bars& bars,
                    const std::function<void(BarSeries&, const PaperBar&)>& add) {
  BarSeries series{std::move(name), std::string(fill), std::string(method.colour), {}, {}};
  for (const PaperBar* bar : bars) {
    add(series, *bar);
  }
  return series;
}

void add_method(BarPanel& panel, const PaperFigure& figure, const PaperMethod& method, const Bars& bars) {
  const std::string label(method.label);
  panel.series.push_back(series_of(
      label + " paper", method.pale, method, bars,
      [](BarSeries& series, const PaperBar& bar) { add_bar(series, bar.published.tflops, "OOM"); }));
  if (bars.front()->is_modelled()) {
    panel.series.push_back(
        series_of(label + " model", method.colour, method, bars, [](BarSeries& series, const PaperBar& bar) {
          add_bar(series, bar.tflops(), bar.runs_out_of_memory() ? "OOM" : "n/a");
        }));
  }
  if (figure.shows_measured) {
    panel.series.push_back(
        series_of(label + " H200", "#ffffff", method, bars,
                  [](BarSeries& series, const PaperBar& bar) { add_bar(series, bar.measured_tflops, ""); }));
  }
}

}  // namespace

BarChart paper_chart(const PaperFigure& figure, std::span<const PaperBar> bars) {
  BarChart chart;
  chart.title = fmt::format("Figure {}: attention {} on {}", figure.number, figure.passes, figure.gpu);
  chart.subtitle = "TFLOP/s, fp16, 16k tokens in all. Pale or dashed: published; solid: model";
  if (figure.shows_measured) {
    chart.subtitle += fmt::format("; white: measured on a H200. {}", kMmaSyncNote);
  }
  chart.x_label = "sequence length";
  chart.y_label = "TFLOP/s";
  chart.one_column = true;
  for (const bool causal : {false, true}) {
    for (const int head_dim : kGridHeadDims) {
      BarPanel panel;
      panel.title = fmt::format("head dimension {}, {}", head_dim, causal ? "causal" : "no mask");
      for (const int seqlen : kGridSeqlens) {
        panel.groups.push_back(length_label(seqlen));
      }
      for (const PaperMethod& method : paper_methods()) {
        Bars chosen;
        for (const PaperBar& bar : bars) {
          if (bar.published.figure == figure.number && bar.method == &method &&
              bar.published.causal == causal && bar.published.head_dim == head_dim) {
            chosen.push_back(&bar);
          }
        }
        if (!chosen.empty()) {
          add_method(panel, figure, method, chosen);
        }
      }
      chart.panels.push_back(std::move(panel));
    }
  }
  return chart;
}

}  // namespace warpscope::experiments
