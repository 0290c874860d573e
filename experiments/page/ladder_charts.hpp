// The charts of one setting of the ladder.
#pragma once

#include <string>
#include <vector>

#include "experiments/page/chart.hpp"
#include "experiments/page/ladder.hpp"

namespace warpscope::experiments {

/// What is stacked is the same in all settings, so that a shade means the same everywhere.
struct LadderColumns {
  std::vector<std::string> tensors;  ///< with most bytes; others are added up
  std::vector<std::string> stalls;   ///< that most warps wait for; others are added up
};
LadderColumns ladder_columns(const Ladder& ladder);

/// Always the same charts in the same order, with no rows where a setting has none.
std::vector<Chart> ladder_charts(const LadderSetting& setting, const LadderColumns& columns);

}  // namespace warpscope::experiments
