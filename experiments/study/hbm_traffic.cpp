// The charts and files of hbm-traffic.
#include "experiments/study/hbm_traffic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

constexpr double kGB = 1e9;
constexpr double kMiB = 1024.0 * 1024;

/// A number of a point, in bytes.
using Bytes = std::function<double(const TrafficPoint&)>;

double counted_bytes(const TrafficPoint& point) {
  return hbm_bytes(point.outcome.result);
}

double minimum_bytes(const TrafficPoint& point) {
  return static_cast<double>(point.outcome.result.compulsory_bytes);
}

double read_bytes(const TrafficPoint& point) {
  return point.outcome.result.read_bytes();
}

/// One panel's axis: length or capacity of the L2.
struct Axis {
  std::function<bool(const TrafficPoint&)> takes;
  std::function<double(const TrafficPoint&)> x;
  std::function<std::string(const TrafficPoint&)> tick;
};

Axis length_axis() {
  return {[](const TrafficPoint& point) { return point.l2_factor == 1; },
          [](const TrafficPoint& point) { return static_cast<double>(point.point.problem.seqlen_q); },
          [](const TrafficPoint& point) { return length_label(point.point.problem.seqlen_q); }};
}

Axis l2_axis() {
  return {[](const TrafficPoint& point) { return point.point.problem.seqlen_q == kL2Seqlen; },
          [](const TrafficPoint& point) { return point.l2_bytes / kMiB; },
          [](const TrafficPoint& point) { return fmt::format("{:.4g}", point.l2_bytes / kMiB); }};
}

/// What the law `bytes` says, or what was counted, of one method.
LineSeries line(std::string series_name, std::string series_colour, bool is_reference, Method method,
                const Axis& axis, const Bytes& bytes, std::span<const TrafficPoint* const> points) {
  LineSeries series{std::move(series_name), std::move(series_colour), is_reference, {}};
  for (const TrafficPoint* point : points) {
    const double y = bytes(*point) / kGB;
    if (point->method == method && y > 0) {
      series.points.emplace_back(axis.x(*point), y);
    }
  }
  std::ranges::sort(series.points);
  return series;
}

using AddReferences = std::function<void(LinePanel&, std::span<const TrafficPoint* const>)>;

std::vector<LinePanel> panels(const Axis& axis, const Bytes& counted, const AddReferences& add_references,
                              std::span<const TrafficPoint> points) {
  std::vector<LinePanel> result;
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    for (const int head_dim : kGridHeadDims) {
      std::vector<const TrafficPoint*> chosen;
      LinePanel panel{fmt::format("{}, head dimension {}", gpu.label, head_dim), {}, {}};
      for (const TrafficPoint& point : points) {
        if (point.gpu == &gpu && point.point.problem.head_dim == head_dim && axis.takes(point)) {
          if (point.method == Method::fa2) {
            panel.x_ticks.emplace_back(axis.x(point), axis.tick(point));
          }
          if (point.outcome.done()) {
            chosen.push_back(&point);
          }
        }
      }
      std::ranges::sort(panel.x_ticks);
      for (std::size_t m = 0; m < kMethods; ++m) {
        const auto method = static_cast<Method>(m);
        panel.series.push_back(
            line(std::string(name(method)), colour(method), false, method, axis, counted, chosen));
      }
      add_references(panel, chosen);
      result.push_back(std::move(panel));
    }
  }
  return result;
}

LineChart length_chart(std::span<const TrafficPoint> points) {
  const Axis axis = length_axis();
  return {
      "Bytes across HBM against sequence length",
      "GB read and written in one forward pass, fp16, no mask, 16k tokens in all, hidden size 2048; dashed: "
      "reference laws, not counted",
      "sequence length",
      "GB, logarithmic",
      false,
      panels(
          axis, counted_bytes,
          [&](LinePanel& panel, std::span<const TrafficPoint* const> chosen) {
            const auto add = [&](const char* law, const char* law_colour, const Bytes& bytes) {
              panel.series.push_back(line(law, law_colour, true, Method::fa2, axis, bytes, chosen));
            };
            add("N² law, constant 1", "#a0a6b4", square_law_bytes);
            add("N²d²/M law, constant 1", "#c9a227", flash_law_bytes);
            add("minimum", "#222222", minimum_bytes);
          },
          points)};
}

LineChart l2_chart(std::span<const TrafficPoint> points) {
  const Axis axis = l2_axis();
  return {"Bytes read from HBM against the capacity of the L2",
          "GB read in one forward pass, fp16, no mask, 4096 tokens, 16k tokens in all, hidden size 2048; "
          "dashed: Q, K and V once",
          "capacity of the L2, MiB",
          "GB read, logarithmic",
          false,
          panels(
              axis, read_bytes,
              [&](LinePanel& panel, std::span<const TrafficPoint* const> chosen) {
                panel.series.push_back(
                    line("inputs once", "#222222", true, Method::fa2, axis, input_bytes, chosen));
              },
              points)};
}

Record record(const TrafficPoint& point) {
  return study_record(point.point, point.outcome,
                      {{"l2_factor", point.l2_factor},
                       {"l2_capacity_bytes", point.l2_bytes},
                       {"input_bytes_reference", input_bytes(point)},
                       {"square_law_bytes_reference", square_law_bytes(point)},
                       {"flash_law_bytes_reference", flash_law_bytes(point)}});
}

}  // namespace

StudyOutput hbm_traffic_output(std::span<const TrafficPoint> points) {
  std::vector<Record> records;
  for (const TrafficPoint& point : points) {
    records.push_back(record(point));
  }
  return {hbm_traffic_report(points),
          records_csv(records),
          records_json("hbm-traffic", records),
          {{"length", length_chart(points)}, {"l2-capacity", l2_chart(points)}}};
}

void run_hbm_traffic(const StudyOptions& options) {
  std::vector<TrafficPoint> traffic = traffic_points();
  std::vector<Point> points;
  points.reserve(traffic.size());
  for (const TrafficPoint& point : traffic) {
    points.push_back(point.point);
  }
  run_study("hbm-traffic", options, points, [&](std::span<const StudyResult> results) {
    for (std::size_t i = 0; i < traffic.size(); ++i) {
      traffic[i].outcome = results[i];
    }
    return hbm_traffic_output(traffic);
  });
}

}  // namespace warpscope::experiments
