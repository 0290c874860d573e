// Runs gnuplot.
#pragma once

#include <string>

namespace warpscope::experiments {

/// Runs the script in the directory it lies in. Throws UsageError if gnuplot is missing or fails.
void run_gnuplot(const std::string& script);

}  // namespace warpscope::experiments
