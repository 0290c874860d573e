// One point with some of its values varied.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/point/point.hpp"
#include "experiments/scan/scan_axis.hpp"
#include "experiments/store/point_result.hpp"
#include "experiments/workers/pool_options.hpp"

namespace warpscope::experiments {

/// A combination of one value of each axis, and what came of it.
struct ScanPoint {
  std::vector<std::string> values;  ///< by axis
  std::optional<Point> point;       ///< absent where the values are no point
  std::string error;                ///< why there is no result; empty if there is one
  PointResult result;
  nlohmann::ordered_json document;  ///< what `run --json` writes of it

  bool done() const { return error.empty(); }
};

struct Scan {
  std::vector<ScanAxis> axes;
  std::vector<ScanPoint> points;  ///< all combinations, those that differ in the last axis side by side

  std::size_t failed() const;
};

/// The point with `values` of the axes. Throws where they are none.
using ReadPoint = std::function<Point(const std::vector<std::string>& values)>;

/// Simulates all combinations on worker processes, equal points once. Throws UsageError where none of them is
/// a point or there are more than kMostScanPoints.
Scan run_scan(std::vector<ScanAxis> axes, const ReadPoint& read_point, const PoolOptions& workers);

}  // namespace warpscope::experiments
