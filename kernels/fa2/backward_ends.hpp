// The small kernels around the main kernel of the FlashAttention-2 backward pass, as CTA programs.
#pragma once

#include "kernels/fa2/backward_shape.hpp"
#include "kernels/fa2/build_figures.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

/// Marks of these programs. A round ends where threads wait for what they have loaded in it; the rounds are
/// copies of that part.
inline constexpr int kBeforeLoads = 0;
inline constexpr int kRound = 1;
inline constexpr int kBehindLoads = 2;

/// In so many rounds flash_bwd_dot_do_o_kernel loads rows of dO and then of O.
int row_products_rounds(const BackwardTile& tile);

/// flash_bwd_dot_do_o_kernel: sum of dO * O for each query, zeros for the sums of dQ if there is one copy of
/// them.
LaunchPlan row_products_launch(const BackwardShape& shape, Build build);
/// flash_bwd_convert_dq_kernel: the sums of dQ, all copies added up one after the other, scaled, to the type
/// of the problem. The tensors of the sums and of dQ are numbers in the plan.
LaunchPlan convert_grad_q_launch(const BackwardShape& shape, Build build, int sums = kGradQSum,
                                 int grad_q = kGradQ);
/// reduce_kernel of PyTorch: gradients of the query heads that share keys, `from`, added up in `to`.
LaunchPlan sum_heads_launch(const BackwardShape& shape, int from, int to);

}  // namespace warpscope::kernels::fa2
