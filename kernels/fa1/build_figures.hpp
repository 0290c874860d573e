// Instructions of the build that the source does not show: address arithmetic, moves, zeroing, convergence.
#pragma once

#include "kernels/fa1/config.hpp"
#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels::fa1 {

/// Source: hardware counters of version 1.0.9 compiled for sm_90 (H200, 16384 tokens, N = 512 and 8192, with
/// and without mask), total by pipe less what the program's text expands to; head_dim 32 from the totals of
/// sm_80 machine code. The build for sm_80 is 1 to 3 % longer. `causal`: of the launch; `hopper`: for sm_90.
BuildFigures build_figures(const Config& config, bool causal, bool hopper);

/// Links of the row of instructions that finds a 64-bit address, in front of the two that the text has.
inline constexpr int kAddressLinks = 2;

/// The part of it that query steps have, for variants whose steps are alike. head_dim is 32, 64 or 128.
BuildFigures step_figures(int head_dim);

}  // namespace warpscope::kernels::fa1
