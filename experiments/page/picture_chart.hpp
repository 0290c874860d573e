// The charts that gnuplot draws, as charts of a page.
#pragma once

#include "experiments/page/chart.hpp"
#include "experiments/plot/bar_chart.hpp"
#include "experiments/plot/line_chart.hpp"

namespace warpscope::experiments {

Chart picture_chart(const LineChart& picture);
/// Groups of bars become places on the x axis of lines.
Chart picture_chart(const BarChart& picture);

}  // namespace warpscope::experiments
