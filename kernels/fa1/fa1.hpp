// FlashAttention-1 as its last release (v1.0.9) runs it: 16 query rows at a time against key blocks in
// registers.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels {

/// With other `options` than its own, variants that keep its order of loops: queries pass by a block of keys.
/// Throws UnsupportedProblem with the reason where there is no kernel for `problem`.
KernelPlan plan_fa1(const Problem& problem, const GpuLimits& limits,
                    const AttentionOptions& options = kFa1Options);

}  // namespace warpscope::kernels
