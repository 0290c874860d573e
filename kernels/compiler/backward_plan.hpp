// How urgent each instruction of a basic block is.
#pragma once

#include <vector>

#include "kernels/compiler/compiler_target.hpp"
#include "kernels/compiler/dependence_graph.hpp"

namespace warpscope::kernels {

/// Cycles from the issue of each instruction to the end of the block, in a plan that is made from its end on:
/// each comes as late as those that need it let it, and the tensor pipe takes one for its interval and
/// CompilerTarget::hmma_plan_spare_cycles, the XU one every xu_order_interval cycles. So the exponentials of
/// a slice of keys are urgent from when on all of them can just be made in time. What nobody needs
/// (`stands_for_another`) is as urgent as what follows it in the source. The order of exponentials in machine
/// code is like that (pytorch_order.csv).
std::vector<int> plan_backwards(const std::vector<trace::Instruction>& code,
                                const NodeLists<DependenceEdge>& successors,
                                const std::vector<bool>& stands_for_another, const CompilerTarget& target);

}  // namespace warpscope::kernels
