// Softmax over the rows of a matrix: the worked example of kernels/README.md.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// y = softmax of each row of x, both rows x cols. Throws UnsupportedProblem for rows that do not fit the
/// registers of a warp, and for tensors beyond HBM.
KernelPlan plan_row_softmax(const Problem& problem, const GpuLimits& limits);

/// The same in double precision.
Reference row_softmax_reference(const Problem& problem, const TensorValues& inputs);

}  // namespace warpscope::kernels
