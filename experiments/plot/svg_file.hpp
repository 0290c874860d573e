// A chart as one file that the user named.
#pragma once

#include <string>

#include "experiments/plot/line_chart.hpp"

namespace warpscope::experiments {

/// Throws UsageError where `file`, the value of `flag`, does not end in .svg, cannot be written, or gnuplot
/// is missing: before any work.
void check_svg_file(const std::string& flag, const std::string& file);
/// Draws beside nothing else: the file appears whole or not at all.
void write_svg_file(const LineChart& chart, const std::string& file);

}  // namespace warpscope::experiments
