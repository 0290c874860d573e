#include "experiments/store/point_result.hpp"

#include <algorithm>

#include "experiments/point/json_integer.hpp"
#include "experiments/report/tensor_json.hpp"
#include "experiments/report/utilisation.hpp"

namespace warpscope::experiments {

using Json = nlohmann::json;

double PointResult::metric(const std::string& name) const {
  return value(metrics, name);
}

PointResult summary(const Run& run) {
  const Utilisation busy = utilisation(run);
  const Resource resource = busiest(busy);
  PointResult result;
  result.time_us = run.result.time_us;
  result.cycles = run.result.cycles;
  result.tflops = tflops(run);
  result.cycles_deviation = run.result.cycles_deviation;
  result.traffic = tensor_rows(run);
  for (const TensorRow& row : result.traffic) {
    result.compulsory_bytes += row.compulsory_bytes;
  }
  for (std::size_t i = 0; i < kResources; ++i) {
    result.busy.emplace_back(name(static_cast<Resource>(i)), busy[i]);
  }
  result.limiter = limiter_name(busy);
  result.busiest = name(resource);
  result.busiest_share = busy[static_cast<std::size_t>(resource)];
  const StallCycles stalls = total_stalls(run.result);
  const double total = std::max(1.0, static_cast<double>(sum(stalls)));
  for (std::size_t i = 0; i < stalls.size(); ++i) {
    result.stalls.emplace_back(metrics::name(static_cast<metrics::Stall>(i)),
                               static_cast<double>(stalls[i]) / total);
  }
  result.metrics = total_metrics(run.result);
  for (const metrics::LaunchResult& launch : run.result.launches) {
    if (run.result.launches.size() > 1) {
      result.launches.push_back({launch.name, launch.cycles, launch.metrics});
    }
  }
  return result;
}

Json to_json(const PointResult& result) {
  Json traffic = Json::array();
  for (const TensorRow& row : result.traffic) {
    traffic.push_back(Json(to_json(row)));
  }
  Json launches = Json::array();
  for (const LaunchShare& launch : result.launches) {
    launches.push_back({{"name", launch.name}, {"cycles", launch.cycles}, {"metrics", launch.metrics}});
  }
  return {{"time_us", result.time_us},
          {"cycles", result.cycles},
          {"tflops", result.tflops},
          {"compulsory_bytes", result.compulsory_bytes},
          {"limiter", result.limiter},
          {"busiest", result.busiest},
          {"busiest_share", result.busiest_share},
          {"cycles_deviation", result.cycles_deviation},
          {"busy", result.busy},
          {"stalls", result.stalls},
          {"hbm_traffic", traffic},
          {"metrics", result.metrics},
          {"launches", launches}};
}

PointResult result_from_json(const Json& json) {
  PointResult result;
  json.at("time_us").get_to(result.time_us);
  read_integer(json, "cycles", result.cycles);
  json.at("tflops").get_to(result.tflops);
  read_integer(json, "compulsory_bytes", result.compulsory_bytes);
  json.at("limiter").get_to(result.limiter);
  json.at("busiest").get_to(result.busiest);
  json.at("busiest_share").get_to(result.busiest_share);
  json.at("cycles_deviation").get_to(result.cycles_deviation);
  json.at("busy").get_to(result.busy);
  json.at("stalls").get_to(result.stalls);
  for (const Json& row : json.at("hbm_traffic")) {
    result.traffic.push_back(tensor_row_from_json(row));
  }
  json.at("metrics").get_to(result.metrics);
  for (const Json& row : json.at("launches")) {
    LaunchShare& launch = result.launches.emplace_back();
    row.at("name").get_to(launch.name);
    read_integer(row, "cycles", launch.cycles);
    row.at("metrics").get_to(launch.metrics);
  }
  return result;
}

}  // namespace warpscope::experiments
