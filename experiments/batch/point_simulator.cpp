#include "experiments/batch/point_simulator.hpp"

#include <fmt/format.h>

#include "experiments/base/usage_error.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/point/run.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/store/point_key.hpp"
#include "experiments/store/point_result.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {

using Json = nlohmann::json;

KeyedPoint PointSimulator::keyed(const Point& point) {
  return {point, point_key(point, config(point.model), model_version())};
}

Task PointSimulator::task(const KeyedPoint& point) {
  const Json json = to_json(point.point);
  Json family = json;
  family.erase("causal");
  return {Json{{"key", point.key}, {"point", json}}.dump(), family.dump()};
}

std::string PointSimulator::simulate(const std::string& task) {
  const Json json = Json::parse(task);
  const Point point = point_from_json(json.at("point"));
  const hw::HwConfig& gpu = config(point.model);
  if (point_key(point, gpu, model_version()) != json.at("key")) {
    throw UsageError(fmt::format("{} on this machine is not what it is on the one that started the sweep",
                                 point.model.gpu));
  }
  return to_json(summary(run_point(point, gpu, memo_))).dump(-1, ' ', false, Json::error_handler_t::replace);
}

const hw::HwConfig& PointSimulator::config(const ModelChoice& model) {
  const GpuChoice choice{model.gpu, model.overrides};
  auto found = configs_.find(choice);
  if (found == configs_.end()) {
    found = configs_.emplace(choice, hw::load(model.gpu, model.overrides, config_directory()).config).first;
  }
  return found->second;
}

}  // namespace warpscope::experiments
