// The page of a scan.
#pragma once

#include "experiments/page/page.hpp"
#include "experiments/scan/scan.hpp"

namespace warpscope::experiments {

/// TFLOP/s over what varies, where lines can show it, and all points as a table.
Page scan_page(const Scan& scan);

}  // namespace warpscope::experiments
