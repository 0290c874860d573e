// The files of a scan: CSV, JSON, and the chart.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

#include "experiments/base/usage_error.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/data/number.hpp"
#include "experiments/plot/xy_chart.hpp"
#include "experiments/scan/scan_columns.hpp"
#include "experiments/scan/scan_report.hpp"
#include "experiments/sweep/model_columns.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

/// Index of the axis that a chart has in x direction: of those with numbers only the one with the most
/// values.
std::size_t x_axis(const std::vector<ScanAxis>& axes) {
  std::optional<std::size_t> best;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    const bool is_numeric = std::ranges::all_of(
        axes[a].values, [](const std::string& value) { return finite_number(value).has_value(); });
    if (is_numeric && (!best || axes[a].values.size() >= axes[*best].values.size())) {
      best = a;
    }
  }
  if (!best) {
    throw UsageError("--chart: nothing that the scan varies has numbers only; there is no x axis");
  }
  return *best;
}

/// "fa2, heads 4": what tells the line of a point from others.
std::string line_name(const Scan& scan, const ScanPoint& point, std::size_t x) {
  std::string name;
  for (std::size_t a = 0; a < scan.axes.size(); ++a) {
    if (a != x) {
      name += name.empty() ? "" : ", ";
      name += line_label(scan.axes[a].name, point.values[a]);
    }
  }
  return name;
}

}  // namespace

std::string scan_csv(const Scan& scan) {
  std::string csv = fmt::format("{}", fmt::join(kScanColumns, ","));
  for (const ScanAxis& axis : scan.axes) {
    csv += axis.is_gpu_key() ? fmt::format(",{}", csv_field(axis.name)) : "";
  }
  csv += fmt::format(",{}\n", model_header());
  for (const ScanPoint& point : scan.points) {
    const char* gap = "";
    for (const std::string& cell : scan_cells(scan, point)) {
      csv += gap;
      csv += csv_field(cell);
      gap = ",";
    }
    for (std::size_t a = 0; a < scan.axes.size(); ++a) {
      csv += scan.axes[a].is_gpu_key() ? fmt::format(",{}", csv_field(point.values[a])) : "";
    }
    csv += fmt::format(",{}\n", point.done() ? model_cells(point.result) : error_cells(point.error));
  }
  return csv;
}

Json scan_json(const Scan& scan) {
  Json json = Json::array();
  for (const ScanPoint& point : scan.points) {
    if (point.done()) {
      json.push_back(point.document);
      continue;
    }
    Json values = Json::object();
    for (std::size_t a = 0; a < scan.axes.size(); ++a) {
      values[scan.axes[a].field] = point.values[a];
    }
    json.push_back({{"scan", values}, {"error", point.error}});
  }
  return json;
}

void check_chart(const std::vector<ScanAxis>& axes) {
  const std::size_t x = x_axis(axes);
  std::size_t lines = 1;
  for (std::size_t a = 0; a < axes.size(); ++a) {
    lines = std::min(kMostScanPoints, lines * (a == x ? 1 : axes[a].values.size()));
  }
  if (lines > kMostLines) {
    throw UsageError(
        fmt::format("--chart: {} lines would not be told apart; legal are up to {}", lines, kMostLines));
  }
}

LineChart scan_chart(const Scan& scan) {
  const std::size_t x = x_axis(scan.axes);
  std::vector<XyPoint> points;
  for (const ScanPoint& point : scan.points) {
    if (point.done()) {
      points.push_back(
          {finite_number(point.values[x]).value(), point.result.tflops, line_name(scan, point, x)});
    }
  }
  return xy_chart(fmt::format("Scan of {}", scan.axes[x].name), scan.axes[x].name, "TFLOP/s", points,
                  fixed_text(scan));
}

}  // namespace warpscope::experiments
