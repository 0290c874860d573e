// Runs gnuplot.
#pragma once

#include <string>

namespace warpscope::experiments {

/// Throws UsageError where gnuplot is not installed.
void require_gnuplot();
/// Runs the script in the directory it lies in. Throws UsageError if gnuplot is missing or fails.
void run_gnuplot(const std::string& script);

}  // namespace warpscope::experiments
