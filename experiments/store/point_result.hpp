// What is kept of a simulation: enough for every table, CSV and chart that is made of many points.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "experiments/point/run.hpp"
#include "experiments/report/totals.hpp"

namespace warpscope::experiments {

/// One launch of several.
struct LaunchShare {
  std::string name;
  std::int64_t cycles = 0;
  std::map<std::string, double> metrics;
};

struct PointResult {
  double time_us = 0;
  std::int64_t cycles = 0;
  double tflops = 0;
  std::uint64_t compulsory_bytes = 0;
  std::string limiter;  ///< "tensor pipe"
  std::string busiest;  ///< the busiest resource, and the share of the time it was
  double busiest_share = 0;
  double cycles_deviation = 0;  ///< standard deviation of `cycles`, as far as a sample was run
  std::vector<std::pair<std::string, double>> busy;    ///< share of all cycles by resource
  std::vector<std::pair<std::string, double>> stalls;  ///< share of warp cycles by reason
  std::vector<TensorRow> traffic;                      ///< by tensor
  std::map<std::string, double> metrics;               ///< over all launches
  std::vector<LaunchShare> launches;                   ///< in their order; none where there is but one

  double read_bytes() const { return metric("dram__bytes_read.sum"); }
  double write_bytes() const { return metric("dram__bytes_write.sum"); }
  /// 0 where the model did not report it.
  double metric(const std::string& name) const;
};

PointResult summary(const Run& run);

/// Exact: what from_json() reads is what to_json() was given. The format of results in a store.
nlohmann::json to_json(const PointResult& result);
PointResult result_from_json(const nlohmann::json& json);

}  // namespace warpscope::experiments
