// The ladder as bars.
#include <fmt/format.h>

#include "experiments/study/ladder.hpp"

namespace warpscope::experiments {

BarChart ladder_chart(const GridGpu& gpu, kernels::Pass pass, std::span<const LadderCase> cases) {
  BarChart chart;
  chart.title = fmt::format("From FlashAttention-1 to FlashAttention-2 on {}{}", gpu.label,
                            pass == kernels::Pass::backward ? ", backward" : "");
  chart.subtitle = fmt::format(
      "TFLOP/s of the model with one change more from bar to bar, {} tokens, batch 4", kSummarySeqlen);
  chart.x_label = "";
  int changes = 0;
  for (const LadderStep& step : ladder_steps(pass)) {
    if (!step.change.empty()) {
      chart.x_label += fmt::format("{}{} {}", changes == 0 ? "" : ", ", changes + 1, step.label);
      ++changes;
    }
  }
  chart.y_label = "TFLOP/s";
  for (const bool causal : {false, true}) {
    for (const int head_dim : kGridHeadDims) {
      BarPanel panel;
      panel.title = fmt::format("head dimension {}, {}", head_dim, causal ? "causal" : "no mask");
      BarSeries series{"model", colour(Method::fa2), colour(Method::fa2), {}, {}};
      int numbered = 0;
      for (const LadderCase& of : cases) {
        const kernels::Problem& problem = of.point.problem;
        if (of.series == LadderSeries::ladder && of.gpu == &gpu && of.pass() == pass &&
            problem.head_dim == head_dim && problem.causal == causal && problem.seqlen_q == kSummarySeqlen) {
          numbered += of.change.empty() ? 0 : 1;
          panel.groups.push_back(of.change.empty() ? of.label : fmt::format("+{}", numbered));
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
