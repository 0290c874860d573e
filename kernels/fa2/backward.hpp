// The backward pass of FlashAttention-2: its launches.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels::fa2 {

/// Row products, main kernel, conversion of dQ; where query heads share keys, two sums over heads. In front
/// of a deterministic pass zeros for its sums of dQ. The
/// problem has passed the checks that both passes share. Throws UnsupportedProblem where the GPU has too
/// little shared memory or memory, or where no tile fits `options`. With others than its own, variants that
/// keep its loops; those that only the forward pass has are not read.
KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits, Build build,
                         const AttentionOptions& options = kFa2Options);

}  // namespace warpscope::kernels::fa2
