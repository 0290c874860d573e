// What a result is filed under.
#pragma once

#include <string>

#include "experiments/point/point.hpp"
#include "model/hw/hw_config.hpp"

namespace warpscope::experiments {

/// A hash of all that decides the result of a point: every value of its GPU, kernel, problem, mode, state of
/// the L2 and `model_version`. The name of the GPU is not among it: what counts is what it says.
std::string point_key(const Point& point, const hw::HwConfig& config, const std::string& model_version);

}  // namespace warpscope::experiments
