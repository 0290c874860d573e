// The limits of GPUs that kernels are planned for.
#pragma once

#include "kernels/kernel.hpp"

namespace warpscope::tests {

inline constexpr kernels::GpuLimits kA100{8, 0, 108, 164 * 1024, 163 * 1024, 0};
inline constexpr kernels::GpuLimits kH100{9, 0, 132, 228 * 1024, 227 * 1024, 0};
inline constexpr kernels::GpuLimits kH200 = kH100;
inline constexpr kernels::GpuLimits kRtx3090{8, 6, 82, 100 * 1024, 99 * 1024, 0};

}  // namespace warpscope::tests
