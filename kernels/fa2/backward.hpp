// The backward pass of FlashAttention-2: its launches.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

/// Row products, main kernel, conversion of dQ; where query heads share keys, two sums over heads. The
/// problem has passed the checks that both passes share. Throws UnsupportedProblem where the GPU has too
/// little shared memory or memory.
KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits, Build build);

}  // namespace warpscope::kernels::fa2
