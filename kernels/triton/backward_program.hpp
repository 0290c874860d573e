// The main launch of a backward pass of Triton's attention.
#pragma once

#include "kernels/triton/backward_shape.hpp"

namespace warpscope::kernels::triton {

/// _bwd_kernel: gradients of K and V, and what dQ is summed from.
LaunchPlan gradients_launch(const BackwardShape& shape, int capability_major);

}  // namespace warpscope::kernels::triton
