// A run as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "experiments/point/run.hpp"

namespace warpscope::experiments {

/// Keys in a fixed order, numbers in their shortest exact form: equal runs give equal bytes.
nlohmann::ordered_json to_json(const Run& run);

}  // namespace warpscope::experiments
