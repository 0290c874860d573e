#include "experiments/page/scan_page.hpp"

#include <fmt/format.h>

#include "experiments/base/usage_error.hpp"
#include "experiments/page/picture_chart.hpp"
#include "experiments/scan/scan_report.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

Chart table_of(const Scan& scan) {
  std::vector<ChartColumn> columns;
  for (const ScanAxis& axis : scan.axes) {
    columns.push_back({axis.field, axis.name, Format::text});
  }
  columns.push_back({"time_us", "time", Format::time_us});
  columns.push_back({"tflops", "TFLOP/s", Format::number});
  columns.push_back({"hbm_bytes", "HBM bytes", Format::bytes});
  columns.push_back({"limiter", "limited by", Format::text});
  Chart chart("table", "All points", std::move(columns));
  for (const ScanPoint& point : scan.points) {
    Json row = Json::array();
    for (const std::string& value : point.values) {
      row.push_back(value);
    }
    const PointResult& result = point.result;
    row.push_back(point.done() ? Json(result.time_us) : Json());
    row.push_back(point.done() ? Json(result.tflops) : Json());
    row.push_back(point.done() ? Json(result.read_bytes() + result.write_bytes()) : Json());
    row.push_back(point.done() ? result.limiter : "not simulated: " + point.error);
    chart.add_row(std::move(row));
  }
  return chart;
}

bool has_chart(const std::vector<ScanAxis>& axes) {
  try {
    check_chart(axes);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

}  // namespace

Page scan_page(const Scan& scan) {
  Page page;
  std::string varied;
  for (const ScanAxis& axis : scan.axes) {
    varied += (varied.empty() ? "" : ", ") + axis.name;
  }
  page.title = "Scan of " + varied;
  page.subtitle = fmt::format("{} points", scan.points.size());
  if (has_chart(scan.axes)) {
    page.sections.push_back({"chart", "Speed", {}, {picture_chart(scan_chart(scan))}});
  }
  page.sections.push_back({"points", "Points", {}, {table_of(scan)}});
  page.words = {"TFLOP/s", "limited by", "HBM"};
  return page;
}

}  // namespace warpscope::experiments
