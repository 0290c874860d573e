// Standard attention as PyTorch runs it without a fused kernel: matrix products and elementwise passes over
// scores that live in HBM.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// The FlashAttention-2 benchmark's PyTorch function: baddbmm, additive causal mask built on the way,
/// softmax, einsum; one pass of it, forward or backward. Throws UnsupportedProblem for GQA, rows without
/// keys, and tensors beyond HBM.
KernelPlan plan_standard(const Problem& problem, const GpuLimits& limits);

/// matmul, scale, masked_fill, softmax, matmul as the eager kernels of PyTorch 2.11; the boolean tensor
/// causal_mask is an input. One pass of it; the backward pass finds the probabilities as an input. Throws as
/// plan_standard.
KernelPlan plan_standard_eager(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels
