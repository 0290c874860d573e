// Instructions of the FlashAttention-2 backward builds that their source does not show.
#pragma once

#include "kernels/fa2/backward_shape.hpp"
#include "kernels/fa2/build_figures.hpp"

namespace warpscope::kernels::fa2 {

/// Of the main kernel on a compute capability of that major version.
BuildFigures backward_figures(Build build, const BackwardShape& shape, int capability_major);
/// Of the kernels before and behind it.
BuildFigures row_products_figures(Build build, const BackwardShape& shape);
BuildFigures convert_figures(Build build, const BackwardShape& shape);

}  // namespace warpscope::kernels::fa2
