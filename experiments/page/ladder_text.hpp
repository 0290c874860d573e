// What the numbers of a ladder say, setting by setting.
#pragma once

#include <string>
#include <vector>

#include "experiments/page/ladder.hpp"

namespace warpscope::experiments {

/// "A100 80 GB", "H200".
std::string gpu_label(const std::string& gpu);

/// How much FA2 wins in this setting, which steps win most, which make no difference or lose, and what is
/// odd.
std::vector<std::string> setting_sentences(const LadderSetting& setting);

/// What step `index` did here: its speed-up, and the counts that changed, largest first.
std::string step_text(const Ladder& ladder, const LadderSetting& setting, std::size_t index);

}  // namespace warpscope::experiments
