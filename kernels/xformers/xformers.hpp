// CUTLASS memory-efficient attention, as xformers had it in 2023 and PyTorch has it.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// Throws UnsupportedProblem with the reason where there is no kernel for `problem`.
KernelPlan plan_xformers(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels
