// The charts and files of parallelism.
#include "experiments/study/parallelism.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

/// From dark to light with the length.
constexpr std::array<std::array<const char*, 2>, kParallelismSeqlens.size()> kColours = {
    {{"#f3bd8c", "#8fc1e3"}, {"#e8893a", "#3d8fc9"}, {"#a9540c", "#124a73"}}};

Record record(const ParallelPoint& point) {
  const auto number = [&](double value) { return point.outcome.done() ? Record(value) : Record(); };
  const Filling filled = filling(point);
  return study_record(point.point, point.outcome,
                      {{"ctas", number(filled.ctas)},
                       {"waves", number(filled.waves)},
                       {"busy_sms", number(filled.busy_sms)},
                       {"idle_slots", number(filled.idle_slots)},
                       {"last_wave_reference", number(filled.last_wave)}});
}

LineChart speed_chart(std::span<const ParallelPoint> points) {
  LineChart chart;
  chart.title = "Speed against batch x heads";
  chart.subtitle = "TFLOP/s forward, fp16, no mask; darker lines are longer sequences";
  chart.x_label = "batch x heads";
  chart.y_label = "TFLOP/s, logarithmic";
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    for (const int head_dim : kGridHeadDims) {
      LinePanel panel{fmt::format("{}, head dimension {}", gpu.label, head_dim), {}, {}};
      for (const int batch_heads : kBatchHeads) {
        panel.x_ticks.emplace_back(batch_heads, std::to_string(batch_heads));
      }
      for (const Method method : {Method::fa1, Method::fa2}) {
        for (std::size_t s = 0; s < kParallelismSeqlens.size(); ++s) {
          LineSeries series{fmt::format("{}, {} tokens", name(method), length_label(kParallelismSeqlens[s])),
                            kColours[s][method == Method::fa1 ? 0 : 1],
                            false,
                            {}};
          for (const ParallelPoint& point : points) {
            const kernels::Problem& problem = point.point.problem;
            if (point.gpu == &gpu && point.method == method && problem.head_dim == head_dim &&
                problem.seqlen_q == kParallelismSeqlens[s] && point.outcome.done()) {
              series.points.emplace_back(problem.heads, point.outcome.result.tflops);
            }
          }
          panel.series.push_back(std::move(series));
        }
      }
      chart.panels.push_back(std::move(panel));
    }
  }
  return chart;
}

}  // namespace

StudyOutput parallelism_output(std::span<const ParallelPoint> points) {
  std::vector<Record> records;
  for (const ParallelPoint& point : points) {
    records.push_back(record(point));
  }
  return {parallelism_report(points),
          records_csv(records),
          records_json("parallelism", records),
          {{"speed", speed_chart(points)}}};
}

void run_parallelism(const StudyOptions& options) {
  std::vector<ParallelPoint> parallel = parallel_points();
  std::vector<Point> points;
  points.reserve(parallel.size());
  for (const ParallelPoint& point : parallel) {
    points.push_back(point.point);
  }
  run_study("parallelism", options, points, [&](std::span<const StudyResult> results) {
    for (std::size_t i = 0; i < parallel.size(); ++i) {
      parallel[i].outcome = results[i];
    }
    return parallelism_output(parallel);
  });
}

}  // namespace warpscope::experiments
