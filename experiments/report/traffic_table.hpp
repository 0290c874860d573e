// HBM bytes by tensor, for the terminal.
#pragma once

#include <string>

#include "experiments/point/run.hpp"

namespace warpscope::experiments {

/// Counted bytes beside the compulsory minimum, a reference line by formula: inputs once, outputs once.
std::string traffic_table(const Run& run);

}  // namespace warpscope::experiments
