// Instructions of the build that the source does not show: address arithmetic, moves, zeroing, convergence.
#pragma once

#include <vector>

#include "kernels/fa1/config.hpp"
#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::fa1 {

/// Where in a query step counted instructions stand.
enum class StepPart : std::uint8_t {
  scores,   ///< among the HMMAs of Q K^T: next to none
  mask,     ///< between the loads of the coming step and the row maximum
  softmax,  ///< from the exponentials to the stores of the partial outputs
  output,   ///< the reduction and normalisation of the output
};

/// Per warp. Source: hardware counters of version 1.0.9 compiled for sm_90 (H200, 16384 tokens, N = 512 and
/// 8192, with and without mask), total by pipe less what the program's text expands to; head_dim 32 from the
/// totals of sm_80 machine code. The build for sm_80 is 1 to 3 % longer.
std::vector<CountedInstruction> step_overhead(const Config& config, bool causal, bool first, StepPart part);
/// Branches of a step beyond those in the program's text.
int extra_branches(const Config& config, bool causal, bool first);
/// Per warp and key block: every load of K and V takes a row predicate, an address and zeros for rows beyond
/// the end.
std::vector<CountedInstruction> key_block_overhead(const Config& config);

}  // namespace warpscope::kernels::fa1
