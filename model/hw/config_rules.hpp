// What must hold between the values of one GPU description.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/hw/hw_config.hpp"

namespace warpscope::hw {

/// A rule that a configuration breaks.
struct BrokenRule {
  std::string_view key;  ///< the key to look at first
  std::string message;   ///< "160000 is more than sm.shared.bytes (100000)"
};

/// All rules that `config` breaks; each value alone is taken to be in range.
std::vector<BrokenRule> broken_rules(const HwConfig& config);

}  // namespace warpscope::hw
