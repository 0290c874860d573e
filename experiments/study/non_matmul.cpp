// The charts and files of non-matmul.
#include "experiments/study/non_matmul.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "experiments/study/forward_grid.hpp"
#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

/// y of a point, if it has one.
using Value = std::function<std::optional<double>(const RatePoint&)>;

/// FA1 and FA2 over the settings of one rate, a panel for each GPU and head dimension.
std::vector<LinePanel> panels(Rate rate, std::span<const RatePoint> points, const Value& value) {
  std::vector<LinePanel> result;
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    for (const int head_dim : kGridHeadDims) {
      LinePanel panel{fmt::format("{}, head dimension {}", gpu.label, head_dim), {}, {}};
      for (const Method method : {Method::fa1, Method::fa2}) {
        LineSeries series{std::string(name(method)), colour(method), false, {}};
        for (const RatePoint& point : points) {
          if (point.setting.rate != rate || point.setting.half || point.point.model.gpu != gpu.name ||
              point.point.kernel != gpu.kernels[static_cast<std::size_t>(method)] ||
              point.point.problem.head_dim != head_dim) {
            continue;
          }
          if (point.setting.stock && method == Method::fa1) {
            panel.title += fmt::format("; as it is: {:.3g}", point.setting.value);
          }
          if (method == Method::fa1) {
            panel.x_ticks.emplace_back(point.setting.value, fmt::format("{:.3g}", point.setting.value));
          }
          if (const std::optional<double> y = value(point)) {
            series.points.emplace_back(point.setting.value, *y);
          }
        }
        panel.series.push_back(std::move(series));
      }
      result.push_back(std::move(panel));
    }
  }
  return result;
}

std::optional<double> tflops_of(const RatePoint& point) {
  return point.outcome.done() ? std::optional(point.outcome.result.tflops) : std::nullopt;
}

LineChart speed_chart(Rate rate, const char* title, const char* x_label, std::span<const RatePoint> points) {
  return {title,   "TFLOP/s forward, fp16, no mask, 4096 tokens, 16k tokens in all, hidden size 2048",
          x_label, "TFLOP/s",
          true,    panels(rate, points, tflops_of)};
}

LineChart price_chart(std::span<const RatePoint> points) {
  LineChart chart;
  chart.title = "Matmul FLOPs that cost as much time as one non-matmul FLOP";
  chart.subtitle =
      "slopes of the time over both kinds of work, from counted runs; no point where twice the matmul work "
      "adds less than 10 %";
  chart.x_label = "peak tensor FLOP/s over peak FP32 FLOP/s";
  chart.y_label = "matmul FLOPs, logarithmic";
  chart.panels = panels(Rate::tensor, points, [&](const RatePoint& point) {
    const std::optional<ExchangeRate> rate = exchange_rate(point, points);
    return rate && rate->matmul_flops && *rate->matmul_flops > 0 ? rate->matmul_flops : std::nullopt;
  });
  for (LinePanel& panel : chart.panels) {
    LineSeries reference{"reference: the ratio of the peaks (16 on A100 in the paper)", "#444444", true, {}};
    for (const Tick& tick : panel.x_ticks) {
      reference.points.emplace_back(tick.first, tick.first);
    }
    panel.series.push_back(std::move(reference));
  }
  return chart;
}

std::string_view name(Rate rate) {
  static constexpr std::array<std::string_view, kRates> kNames = {"tensor", "exponential", "shared"};
  return kNames[static_cast<std::size_t>(rate)];
}

Record record(const RatePoint& point, std::span<const RatePoint> points) {
  Record more = {{"rate", name(point.setting.rate)},
                 {"value", point.setting.value},
                 {"half_lanes", point.setting.half ? 1 : 0},
                 {"stock", point.setting.stock ? 1 : 0},
                 {"non_matmul_slowdown", nullptr},
                 {"matmul_slowdown", nullptr},
                 {"matmul_flops_per_non_matmul_flop", nullptr}};
  if (point.setting.rate == Rate::tensor && !point.setting.half) {
    if (const std::optional<ExchangeRate> rate = exchange_rate(point, points)) {
      more["non_matmul_slowdown"] = rate->non_matmul_slowdown;
      more["matmul_slowdown"] = rate->matmul_slowdown;
      if (rate->matmul_flops) {
        more["matmul_flops_per_non_matmul_flop"] = *rate->matmul_flops;
      }
    }
  }
  return study_record(point.point, point.outcome, more);
}

}  // namespace

StudyOutput non_matmul_output(std::span<const RatePoint> points) {
  std::vector<Record> records;
  for (const RatePoint& point : points) {
    records.push_back(record(point, points));
  }
  StudyOutput output{
      non_matmul_report(points), records_csv(records), records_json("non-matmul", records), {}};
  output.pictures = {
      {"tensor-ratio", speed_chart(Rate::tensor, "Speed with faster and slower tensor pipes",
                                   "peak tensor FLOP/s over peak FP32 FLOP/s", points)},
      {"price", price_chart(points)},
      {"exponential", speed_chart(Rate::exponential, "Speed with more and fewer exponentials per clock",
                                  "sm.xu.lanes, exponentials/clk of a sub-core", points)},
      {"shared-memory", speed_chart(Rate::shared, "Speed with wider and narrower shared memory",
                                    "sm.shared.bytes_per_clk, bytes/clk of an SM", points)}};
  return output;
}

void run_non_matmul(const StudyOptions& options) {
  std::vector<RatePoint> rates = rate_points();
  std::vector<Point> points;
  points.reserve(rates.size());
  for (const RatePoint& rate : rates) {
    points.push_back(rate.point);
  }
  run_study("non-matmul", options, points, [&](std::span<const StudyResult> results) {
    for (std::size_t i = 0; i < rates.size(); ++i) {
      rates[i].outcome = results[i];
    }
    return non_matmul_output(rates);
  });
}

}  // namespace warpscope::experiments
