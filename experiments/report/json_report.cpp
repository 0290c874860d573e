#include "experiments/report/json_report.hpp"

#include <cmath>

#include "experiments/report/tensor_json.hpp"
#include "experiments/report/text_report.hpp"
#include "experiments/report/utilisation.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::ordered_json;

/// Whole numbers without ".0": counts stay readable as counts.
Json number(double value) {
  constexpr double kExactIntegers = 9007199254740992.0;
  if (std::abs(value) < kExactIntegers && value == std::floor(value)) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

Json metrics_json(const std::map<std::string, double>& metrics) {
  Json json = Json::object();
  for (const auto& [name, value] : metrics) {
    json[name] = number(value);
  }
  return json;
}

Json problem_json(const kernels::Problem& problem) {
  const auto [rows, cols, depth] = problem.matrix;
  switch (problem.type) {
    case kernels::ProblemType::rows:
      return {{"rows", rows}, {"cols", cols}, {"dtype", text(problem.dtype)}};
    case kernels::ProblemType::gemm:
      return {{"batch", problem.batch},
              {"rows", rows},
              {"cols", cols},
              {"depth", depth},
              {"dtype", text(problem.dtype)}};
    case kernels::ProblemType::attention:
      break;
  }
  Json json = {{"batch", problem.batch},       {"heads", problem.heads},       {"heads_kv", problem.heads_kv},
               {"seqlen_q", problem.seqlen_q}, {"seqlen_k", problem.seqlen_k}, {"head_dim", problem.head_dim},
               {"causal", problem.causal},     {"dtype", text(problem.dtype)}};
  if (problem.num_splits != 1) {
    json["num_splits"] = problem.num_splits == kernels::kAutoSplits ? Json("auto") : Json(problem.num_splits);
  }
  if (problem.window.is_given()) {
    json["window"] = {problem.window.left, problem.window.right};
  }
  if (problem.softcap != 0) {
    json["softcap"] = problem.softcap;
  }
  if (problem.alibi) {
    json["alibi"] = true;
  }
  if (problem.dropout > 0) {
    json["dropout"] = problem.dropout;
  }
  if (problem.page_size > 0) {
    json["page_size"] = problem.page_size;
  }
  if (problem.deterministic) {
    json["deterministic"] = true;
  }
  if (problem.heads_first) {
    json["heads_first"] = true;
  }
  if (!problem.seqlens.empty()) {
    json["seqlens"] = problem.seqlens;
  }
  return json;
}

Json launch_json(const metrics::LaunchResult& launch) {
  return {{"name", launch.name},
          {"grid", launch.grid},
          {"block", {launch.threads_per_cta, 1, 1}},
          {"cycles", launch.cycles},
          {"time_us", number(launch.time_us)},
          {"metrics", metrics_json(launch.metrics)}};
}

}  // namespace

Json to_json(const Run& run) {
  Json json;
  json["gpu"] = run.gpu;
  json["set"] = run.overrides;
  if (run.point) {
    json["kernel"] = run.point->kernel;
    json["pass"] = text(run.point->problem.pass);
    json["problem"] = problem_json(run.point->problem);
  } else {
    json["kernel"] = nullptr;
    json["pass"] = nullptr;
    json["problem"] = nullptr;
    json["trace"] = run.trace_file;
  }
  json["time_us"] = number(run.result.time_us);
  json["cycles"] = run.result.cycles;
  json["cycles_deviation"] = number(run.result.cycles_deviation);
  json["sm_clock_mhz"] = number(sm_clock_mhz(run.result));
  json["power_w"] = run.result.power_w > 0 ? number(run.result.power_w) : Json();
  json["power_limited"] = run.result.is_power_limited;
  json["tflops"] = run.point ? number(tflops(run)) : Json();
  const Utilisation busy = utilisation(run);
  json["limiter"] = limiter_name(busy);
  json["busy"] = Json::object();
  for (std::size_t i = 0; i < kResources; ++i) {
    json["busy"][std::string(name(static_cast<Resource>(i)))] = number(busy[i]);
  }
  json["launches"] = Json::array();
  for (const metrics::LaunchResult& launch : run.result.launches) {
    json["launches"].push_back(launch_json(launch));
  }
  json["metrics"] = metrics_json(total_metrics(run.result));
  json["hbm_traffic"] = Json::array();
  for (const TensorRow& row : tensor_rows(run)) {
    json["hbm_traffic"].push_back(to_json(row));
  }
  const StallCycles stalls = total_stalls(run.result);
  json["stalls"] = Json::object();
  for (std::size_t i = 0; i < stalls.size(); ++i) {
    json["stalls"][metrics::name(static_cast<metrics::Stall>(i))] = stalls[i];
  }
  json["notes"] = notes(run);
  return json;
}

}  // namespace warpscope::experiments
