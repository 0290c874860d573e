// A point as JSON: what is sent to workers, what stores and exports show of it.
#pragma once

#include <nlohmann/json.hpp>

#include "experiments/point/point.hpp"

namespace warpscope::experiments {

/// Everything that a point is, so that point_from_json() makes the same one of it.
nlohmann::json to_json(const Point& point);
/// Throws nlohmann::json::exception where something is missing.
Point point_from_json(const nlohmann::json& json);

/// "fa2 fwd fp16 b 2 h 16 q 512 k 512 d 64 causal on h200-sxm-141gb", for messages.
std::string describe(const Point& point);

}  // namespace warpscope::experiments
