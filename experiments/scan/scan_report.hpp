// A scan for the terminal, for `plot` and for scripts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/plot/line_chart.hpp"
#include "experiments/scan/scan.hpp"

namespace warpscope::experiments {

/// A row per point; columns of axes that do not fit the terminal become headings.
std::string scan_text(const Scan& scan);
/// The columns of a points file and those of a sweep. Keys of the GPU that vary have columns of their own
/// too.
std::string scan_csv(const Scan& scan);
/// An array of what `run --json` writes; of a point without a result what varies and `error`.
nlohmann::ordered_json scan_json(const Scan& scan);
/// Throws UsageError where no axis has numbers only, or the others make too many lines.
void check_chart(const std::vector<ScanAxis>& axes);
/// TFLOP/s over the axis with the most values, all numbers, a line for each combination of the others.
LineChart scan_chart(const Scan& scan);

}  // namespace warpscope::experiments
