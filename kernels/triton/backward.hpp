// The backward pass of Triton's attention.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::triton {

/// The problem must be one that plan_triton accepts.
KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits, bool sequence_parallel);

}  // namespace warpscope::kernels::triton
