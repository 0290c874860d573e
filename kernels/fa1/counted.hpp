// Instructions of the build that the source does not show, counted in machine code and hardware counters.
#pragma once

#include <span>

#include "kernels/fa1/config.hpp"
#include "kernels/machine/machine.hpp"

namespace warpscope::kernels::fa1 {

/// Once per CTA.
std::span<const CountedInstruction> cta_overhead();
/// Once per key block.
std::span<const CountedInstruction> key_block_overhead();
/// Once per query step.
std::span<const CountedInstruction> step_overhead(const Config& config, bool first, bool causal);

}  // namespace warpscope::kernels::fa1
