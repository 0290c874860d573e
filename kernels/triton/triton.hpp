// The attention that Triton shipped as triton.ops.flash_attention in July 2023.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// As it was from 10 to 23 July 2023, when FlashAttention-2's benchmark ran it: FlashAttention-1's arithmetic
/// on a CTA per block of queries. Refuses lengths that are no multiple of 128, head dimensions other than 16,
/// 32, 64 and 128, and fewer key heads than query heads.
KernelPlan plan_triton(const Problem& problem, const GpuLimits& limits);
/// The same, asked for sequence_parallel: its backward pass has a CTA for each block of keys.
KernelPlan plan_triton_sequence_parallel(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels
