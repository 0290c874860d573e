// The page of a run as `run --report FILE.html` writes it.
#pragma once

#include <string>

#include "experiments/page/run_page.hpp"
#include "experiments/workers/pool_options.hpp"

namespace warpscope::experiments {

/// The page, once what belongs on it is known too: the nearest reference points are simulated, and where no
/// timeline was recorded a short run is run again for one.
std::string run_page_file(const Run& run, RunExtras extras, const PoolOptions& workers);

}  // namespace warpscope::experiments
