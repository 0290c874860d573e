// FlashAttention-2 as its repository builds it, and the copy inside PyTorch.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

KernelPlan plan_fa2(const Problem& problem, const GpuLimits& limits);
KernelPlan plan_fa2_torch(const Problem& problem, const GpuLimits& limits);
trace::Trace build_fa2(const Problem& problem, const GpuLimits& limits);
trace::Trace build_fa2_torch(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels
