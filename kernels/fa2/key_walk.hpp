// The walk of a CTA over several blocks of keys, as the deterministic backward pass of FlashAttention-2 has
// it.
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/fa2/backward_shape.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::fa2 {

/// Copies of the sums of dQ: as many CTAs for each head as fill the SMs (flash_api.cpp: nsplits).
std::int64_t grad_q_splits(const Problem& problem, int sm_count);

/// Query blocks that key block `n` takes: causal queries before its first key do not see it. At least one,
/// since the last query sees all keys.
std::int64_t steps_of_key_block(const BackwardShape& shape, std::int64_t n);

/// Fills in the grid (splits, batch, heads) and the classes of CTAs. CTA x walks key blocks x, x + splits,
/// ... Throws UnsupportedProblem where the steps of a walk do not become fewer by the same number from block
/// to block, which only tiles of fewer keys than queries do.
void add_walk_grid(LaunchPlan& launch, const BackwardShape& shape);

/// Runs body(key block, trips of its loop over blocks of queries) for the blocks of the CTA, inside a loop.
void walk_key_blocks(CtaMachine& machine, const BackwardShape& shape,
                     const std::function<void(const Affine& block, const Trips& steps)>& body);

}  // namespace warpscope::kernels::fa2
