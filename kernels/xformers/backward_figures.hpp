// Instructions of the backward build that the source does not show.
#pragma once

#include "kernels/machine/build_figures.hpp"
#include "kernels/xformers/backward_shape.hpp"

namespace warpscope::kernels::xformers {

/// Of one instantiation, for all GPUs.
BuildFigures backward_figures(const BackwardTile& tile);

}  // namespace warpscope::kernels::xformers
