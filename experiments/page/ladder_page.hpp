// The page of the study why-fa2.
#pragma once

#include "experiments/page/ladder.hpp"
#include "experiments/page/page.hpp"

namespace warpscope::experiments {

/// The charts of each setting, and lists to choose one by; the first setting is shown first.
Page ladder_page(const Ladder& ladder);

}  // namespace warpscope::experiments
