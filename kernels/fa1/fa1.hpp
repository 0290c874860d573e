// FlashAttention-1 as its last release (v1.0.9) runs it: 16 query rows at a time against key blocks in
// registers.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// Throws UnsupportedProblem with the reason where FlashAttention-1 has no kernel for `problem`.
KernelPlan plan_fa1(const Problem& problem, const GpuLimits& limits);
trace::Trace build_fa1(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels
