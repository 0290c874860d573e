// A matrix product by itself, as the vendor's library runs it on A100.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// C = A B for each of `batch` segments; A is rows x depth, B depth x cols. Throws UnsupportedProblem for
/// columns and depths that are no multiple of 8, and for tensors beyond HBM.
KernelPlan plan_gemm(const Problem& problem, const GpuLimits& limits);

/// The same in double precision.
Reference gemm_reference(const Problem& problem, const TensorValues& inputs);

}  // namespace warpscope::kernels
