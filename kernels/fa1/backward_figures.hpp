// Instructions of FlashAttention-1's backward build that the source does not show.
#pragma once

#include "kernels/fa1/backward_config.hpp"
#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels::fa1 {

/// Marks of the parts of the kernel of row products.
enum DotPart : int {
  kDotPrologue,
  kDotStep,
};

/// Source: hardware counters of version 1.0.9 compiled for sm_90 (H200, 16384 tokens, N = 512 where a CTA has
/// a head and 8192 where it has a key block, with and without mask), by pipe less what the program's text
/// expands to. Those of head_dim 32 are borrowed from 64.
BuildFigures backward_figures(const BackwardConfig& config, bool causal, bool hopper);
BuildFigures row_products_figures(int head_dim);

}  // namespace warpscope::kernels::fa1
