// The resources of a GPU that a kernel may wait for, and how to have more of each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/hw/hw_config.hpp"

namespace warpscope::experiments {

/// A resource made better: the keys that change. Rates and sizes are whole numbers of what hardware has, so
/// the step is the smallest legal one of at least a tenth.
struct Improvement {
  std::string_view resource;         ///< "HBM bandwidth"
  std::vector<std::string> changes;  ///< "hbm.peak_gb_per_s=5280"
  double factor = 1;                 ///< by how much it is better: a rate or size times this
  bool is_whole_sm = false;          ///< more of everything that is in an SM, so it names no limit
};

/// Each resource of the GPU in turn, those that cannot be had better left out.
std::vector<Improvement> improvements(const hw::HwConfig& config);

}  // namespace warpscope::experiments
