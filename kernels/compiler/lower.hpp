// From a kernel as CTA programs to a kernel as warp instructions.
#pragma once

#include "kernels/compiler/compiler_target.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// Expands, schedules and encodes every program of every launch for `target`. The trace's tensors are the
/// plan's, in the plan's order, then one for register spills. Throws std::logic_error that names the launch
/// where the plan breaks a rule (check_plan.hpp).
trace::Trace lower(const KernelPlan& plan, const CompilerTarget& target);

}  // namespace warpscope::kernels
