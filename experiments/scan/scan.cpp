#include "experiments/scan/scan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/batch/simulate_points.hpp"
#include "experiments/report/json_report.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

void check_count(const std::vector<ScanAxis>& axes) {
  std::size_t count = 1;
  for (const ScanAxis& axis : axes) {
    count *= axis.values.size();  // neither factor is above kMostScanPoints
    if (count > kMostScanPoints) {
      throw UsageError(
          fmt::format("the scan has more than {} points; legal are up to so many", kMostScanPoints));
    }
  }
}

std::vector<ScanPoint> combinations(const std::vector<ScanAxis>& axes) {
  std::vector<ScanPoint> points(1);
  for (const ScanAxis& axis : axes) {
    std::vector<ScanPoint> longer;
    for (const ScanPoint& point : points) {
      for (const std::string& value : axis.values) {
        longer.push_back(point);
        longer.back().values.push_back(value);
      }
    }
    points = std::move(longer);
  }
  return points;
}

/// What a worker sends back: the result as stores have it, and the document of the run.
std::string worker_text(const Run& run) {
  const Json both = {{"result", Json(to_json(summary(run)))}, {"document", to_json(run)}};
  return both.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::size_t Scan::failed() const {
  return static_cast<std::size_t>(std::ranges::count_if(points, [](const auto& p) { return !p.done(); }));
}

Scan run_scan(std::vector<ScanAxis> axes, const ReadPoint& read_point, const PoolOptions& workers) {
  check_count(axes);
  Scan scan{std::move(axes), {}};
  scan.points = combinations(scan.axes);
  PointSimulator simulator;
  std::vector<KeyedPoint> keyed;
  std::vector<ScanPoint*> owners;  // of `keyed`
  for (ScanPoint& point : scan.points) {
    try {
      point.point = read_point(point.values);
      keyed.push_back(simulator.keyed(*point.point));
      owners.push_back(&point);
    } catch (const std::exception& error) {
      point.error = one_line(error.what());
    }
  }
  if (keyed.empty()) {
    throw UsageError(scan.points.front().error);
  }
  ResultStore store(model_version());
  WorkerPool pool([&](const std::string& task) { return simulator.simulate(task, worker_text); }, workers);
  simulate_points(distinct_by_cost(keyed), store, pool, "scan");
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    const Outcome outcome = store.find(keyed[i].key).value();
    if (outcome.fate == Fate::done) {
      Json both = Json::parse(outcome.text);
      owners[i]->result = result_from_json(nlohmann::json(both.at("result")));
      owners[i]->document = std::move(both.at("document"));
    } else {
      owners[i]->error = one_line(outcome.text);
    }
  }
  return scan;
}

}  // namespace warpscope::experiments
