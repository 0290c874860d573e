#include "experiments/batch/point_simulator.hpp"

#include <fmt/format.h>

#include "experiments/base/usage_error.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/store/point_key.hpp"
#include "experiments/store/point_result.hpp"
#include "kernels/unsupported.hpp"
#include "model/gpu/deadlock.hpp"
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

std::string result_text(const Run& run) {
  return to_json(summary(run)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

Outcome PointSimulator::simulate(const std::string& task, const ResultText& text_of) {
  const Json json = Json::parse(task);
  const Point point = point_from_json(json.at("point"));
  const hw::HwConfig& description = config(point.model);
  if (point_key(point, description, model_version()) != json.at("key")) {
    throw UsageError(fmt::format("{} on this machine is not what it is on the one that started the sweep",
                                 point.model.gpu));
  }
  try {
    return {Fate::done, text_of(run_point(point, description, memo_))};
  } catch (const kernels::UnsupportedProblem& reason) {
    return {Fate::refused, reason.what()};
  } catch (const std::invalid_argument& reason) {  // a trace that breaks a rule, a launch that does not fit
    return {Fate::refused, reason.what()};
  } catch (const gpu::DeadlockError& reason) {
    return {Fate::refused, reason.what()};
  }
}

const hw::HwConfig& PointSimulator::config(const ModelChoice& model) {
  const GpuChoice choice{model.gpu, model.overrides};
  auto found = configs_.find(choice);
  if (found == configs_.end()) {
    const hw::LoadedConfig loaded = hw::load(model.gpu, model.overrides, config_directory());
    files_.insert(loaded.files.begin(), loaded.files.end());
    found = configs_.emplace(choice, loaded.config).first;
  }
  return found->second;
}

}  // namespace warpscope::experiments
