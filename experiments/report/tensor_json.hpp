// The traffic of one tensor as JSON, the same for a run and for a point of many.
#pragma once

#include <nlohmann/json.hpp>

#include "experiments/report/totals.hpp"

namespace warpscope::experiments {

nlohmann::ordered_json to_json(const TensorRow& row);
/// Throws nlohmann::json::exception where something is missing.
TensorRow tensor_row_from_json(const nlohmann::json& json);

}  // namespace warpscope::experiments
