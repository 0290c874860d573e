// The page of a comparison.
#pragma once

#include "experiments/page/page.hpp"
#include "experiments/whatif/compare.hpp"

namespace warpscope::experiments {

/// The sentence, then what differs by group, largest first.
Page compare_page(const Comparison& comparison);

}  // namespace warpscope::experiments
