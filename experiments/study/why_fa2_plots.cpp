// The charts of why-fa2.
#include <fmt/format.h>

#include <functional>

#include "experiments/report/text_report.hpp"
#include "experiments/study/study_records.hpp"
#include "experiments/study/why_fa2.hpp"

namespace warpscope::experiments {
namespace {

/// Bars that the model is held against have the pale colour of the method.
constexpr std::array<const char*, kMethods> kPale = {"#dfe2e8", "#fbe0c8", "#cfe3f2"};

using AddSeries = std::function<void(BarPanel&, Method, std::span<const GridPoint* const>)>;

/// A panel per head dimension and mask, with the points of each method handed to `add_series`.
std::vector<BarPanel> panels(const GridGpu& gpu, std::span<const GridPoint> points,
                             const AddSeries& add_series) {
  std::vector<BarPanel> result;
  for (const bool causal : {false, true}) {
    for (const int head_dim : kGridHeadDims) {
      BarPanel panel;
      panel.title = fmt::format("head dimension {}, {}", head_dim, causal ? "causal" : "no mask");
      for (const int seqlen : kGridSeqlens) {
        panel.groups.push_back(length_label(seqlen));
      }
      for (std::size_t m = 0; m < kMethods; ++m) {
        std::vector<const GridPoint*> chosen;
        for (const GridPoint& point : points) {
          if (point.gpu == &gpu && point.method == static_cast<Method>(m) &&
              point.point.problem.causal == causal && point.point.problem.head_dim == head_dim) {
            chosen.push_back(&point);
          }
        }
        add_series(panel, static_cast<Method>(m), chosen);
      }
      result.push_back(std::move(panel));
    }
  }
  return result;
}

/// Two digits after the point for small numbers, none for large ones.
std::string bar_label(double number) {
  return fmt::format("{:.{}f}", number, number < 1 ? 2 : number < 10 ? 1 : 0);
}

void add_bar(BarSeries& series, std::optional<double> number, const char* absent) {
  series.values.push_back(number);
  series.labels.push_back(number ? bar_label(*number) : absent);
}

}  // namespace

BarChart speed_chart(const GridGpu& gpu, std::span<const GridPoint> points) {
  BarChart chart;
  chart.title = fmt::format("Attention forward on {}", gpu.label);
  chart.subtitle = "TFLOP/s, fp16, 16k tokens in all, hidden size 2048";
  if (!gpu.name.starts_with("a100")) {
    chart.subtitle += fmt::format(". {}", kMmaSyncNote);
  }
  chart.x_label = "sequence length";
  chart.y_label = "TFLOP/s";
  chart.panels =
      panels(gpu, points, [&](BarPanel& panel, Method method, std::span<const GridPoint* const> chosen) {
        if (!gpu.reference.empty()) {
          BarSeries series{fmt::format("{}, {}", name(method), gpu.reference),
                           kPale[static_cast<std::size_t>(method)],
                           colour(method),
                           {},
                           {}};
          for (const GridPoint* point : chosen) {
            const bool known = point->reference != nullptr;
            add_bar(series, known ? point->reference->tflops : std::nullopt, known ? "OOM" : "");
          }
          panel.series.push_back(std::move(series));
        }
        BarSeries series{fmt::format("{}, model", name(method)), colour(method), colour(method), {}, {}};
        for (const GridPoint* point : chosen) {
          add_bar(series, point->error.empty() ? std::optional<double>(point->tflops) : std::nullopt, "n/a");
        }
        panel.series.push_back(std::move(series));
      });
  return chart;
}

BarChart traffic_chart(const GridGpu& gpu, std::span<const GridPoint> points) {
  constexpr double kGB = 1e9;
  BarChart chart;
  chart.title = fmt::format("Bytes across HBM on {}", gpu.label);
  chart.subtitle =
      "GB read and written in one forward pass, counted by the model; the minimum reads every input "
      "and writes every output once";
  chart.x_label = "sequence length";
  chart.y_label = "GB, logarithmic";
  chart.logarithmic = true;
  chart.panels =
      panels(gpu, points, [&](BarPanel& panel, Method method, std::span<const GridPoint* const> chosen) {
        BarSeries series{std::string(name(method)), colour(method), colour(method), {}, {}};
        BarSeries least{"minimum", "#ffffff", "#444444", {}, {}};
        for (const GridPoint* point : chosen) {
          const auto number = [&](std::uint64_t bytes) {
            return point->error.empty() ? std::optional<double>(static_cast<double>(bytes) / kGB)
                                        : std::nullopt;
          };
          add_bar(series, number(point->read_bytes + point->write_bytes), "n/a");
          add_bar(least, number(point->compulsory_bytes), "");
        }
        panel.series.push_back(std::move(series));
        // FA2's tensors are the attention's own: Q, K, V, O and the logarithms of the row sums.
        if (method == Method::fa2) {
          panel.series.push_back(std::move(least));
        }
      });
  return chart;
}

}  // namespace warpscope::experiments
