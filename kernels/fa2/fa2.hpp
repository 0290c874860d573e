// FlashAttention-2 as its repository builds it, and the copy inside PyTorch.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels {

/// With other `options` than its own, variants that keep its order of loops: keys pass by a block of queries.
/// Throws UnsupportedProblem with the reason where there is no kernel for `problem`.
KernelPlan plan_fa2(const Problem& problem, const GpuLimits& limits,
                    const AttentionOptions& options = kFa2Options);
KernelPlan plan_fa2_torch(const Problem& problem, const GpuLimits& limits,
                          const AttentionOptions& options = kFa2Options);
/// flash_attn_with_kvcache without keys to append: always the split-KV kernel, in one part too.
KernelPlan plan_fa2_kvcache(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels
