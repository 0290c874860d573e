// The backward pass of FlashAttention-1: its launches.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels::fa1 {

/// One launch where a CTA has a head. Sequence-parallel: zeros for the sums of dQ, row products, main kernel,
/// and the sums in the type of the problem, as fmha_api.cpp calls them. Throws UnsupportedProblem with the
/// reason where FlashAttention-1 has no kernel. With other `options` than its own, variants that keep its
/// loops; those that only the forward pass has are not read.
KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options);

}  // namespace warpscope::kernels::fa1
