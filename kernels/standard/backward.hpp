// The backward passes of standard attention.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::standard {

/// Gradients of the FlashAttention-2 benchmark's PyTorch function. Inputs are Q, K, V, dO, the probabilities,
/// and the transposed copy of K where there is one.
KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits);

/// Gradients of the eager sequence. dK is stored transposed, as the product writes it.
KernelPlan plan_eager_backward(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels::standard
