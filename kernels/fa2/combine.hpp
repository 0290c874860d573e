// The kernel that makes one output of those that parts of the keys have given.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/fa2/forward_program.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

/// flash_fwd_splitkv_combine_kernel for the parts that `shape` leaves behind (kPartO, kPartLse): weights each
/// with its share of the sum of exponentials and writes kO and kLse, whose rows are the queries of all
/// batches and heads.
LaunchPlan combine_launch(const ForwardShape& shape, Build build);

}  // namespace warpscope::kernels::fa2
