// The ladder as bars.
#include <fmt/format.h>

#include "experiments/study/ladder.hpp"

namespace warpscope::experiments {

BarChart ladder_chart(const GridGpu& gpu, std::span<const LadderCase> cases) {
  BarChart chart;
  chart.title = fmt::format("From FlashAttention-1 to FlashAttention-2 on {}", gpu.label);
  chart.subtitle = fmt::format(
      "TFLOP/s of the model with one change more from bar to bar, {} tokens, batch 4", kSummarySeqlen);
  chart.x_label = "";
  for (std::size_t i = 2; i < ladder_steps().size(); ++i) {
    chart.x_label += fmt::format("{}{} {}", i == 2 ? "" : ", ", i - 1, ladder_steps()[i].label);
  }
  chart.y_label = "TFLOP/s";
  for (const bool causal : {false, true}) {
    for (const int head_dim : kGridHeadDims) {
      BarPanel panel;
      panel.title = fmt::format("head dimension {}, {}", head_dim, causal ? "causal" : "no mask");
      BarSeries series{"model", colour(Method::fa2), colour(Method::fa2), {}, {}};
      for (const LadderCase& of : cases) {
        const kernels::Problem& problem = of.point.problem;
        if (of.series == LadderSeries::ladder && of.gpu == &gpu && problem.head_dim == head_dim &&
            problem.causal == causal && problem.seqlen_q == kSummarySeqlen) {
          const std::size_t number = panel.groups.size() - 1;
          panel.groups.push_back(of.change.empty() ? of.label : fmt::format("+{}", number));
          series.values.push_back(of.done() ? std::optional<double>(of.result().tflops) : std::nullopt);
          series.labels.push_back(of.done() ? fmt::format("{:.0f}", of.result().tflops) : "n/a");
        }
      }
      panel.series.push_back(std::move(series));
      chart.panels.push_back(std::move(panel));
    }
  }
  return chart;
}

}  // namespace warpscope::experiments
