// Runs a kernel's CTA programs with numbers, CTA after CTA and launch after launch.
#pragma once

#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/numeric/flop_count.hpp"

namespace warpscope::kernels {

struct NumericResult {
  TensorValues tensors;  ///< every tensor of the plan after the last launch
  std::vector<FlopCount> flops_by_launch;
  FlopCount flops;  ///< sum over the launches
};

/// Runs `plan` on `inputs`, which are rounded to the types of their tensors. What no CTA writes stays NaN.
/// Throws std::invalid_argument where an input tensor is missing, unknown or of the wrong size, and
/// std::logic_error where a program breaks a rule of the machine.
NumericResult run_numeric(const KernelPlan& plan, const TensorValues& inputs);

}  // namespace warpscope::kernels
