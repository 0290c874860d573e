// The launches before and behind the main one of a backward pass of Triton's attention.
#pragma once

#include "kernels/triton/backward_shape.hpp"

namespace warpscope::kernels::triton {

/// torch.zeros of what dQ is summed from.
LaunchPlan zero_launch(const BackwardShape& shape);
/// _bwd_preprocess: dO over the row sum, and its product with O.
LaunchPlan preprocess_launch(const BackwardShape& shape);
/// dQ.sum(dim=0) of the parts, or the cast of autograd from fp32 to the type of Q.
LaunchPlan grad_q_launch(const BackwardShape& shape);

}  // namespace warpscope::kernels::triton
