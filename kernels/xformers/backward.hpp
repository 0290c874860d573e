// The backward pass of memory-efficient attention: its launches.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::xformers {

/// Zeros for what is added up, and the kernel. The problem has passed the checks that both passes share.
KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels::xformers
