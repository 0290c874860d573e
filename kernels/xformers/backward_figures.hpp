// Instructions of the backward build that the source does not show.
#pragma once

#include "kernels/machine/build_figures.hpp"
#include "kernels/xformers/backward_shape.hpp"

namespace warpscope::kernels::xformers {

/// Of one instantiation. GPUs of capability 9.0 run PyTorch's build, those before xformers' own of 2023.
BuildFigures backward_figures(const BackwardTile& tile, int capability_major);

}  // namespace warpscope::kernels::xformers
