// What the machine code of Triton's attention has beside its text.
#pragma once

#include "kernels/triton/figure_table.hpp"

namespace warpscope::kernels::triton {

/// Marks of the programs' parts.
enum Part : int {
  kBeforeSteps,
  kStep,
  kBehindSteps,
};

/// Head dimensions below 64 take the figures of 64 without what it keeps in local memory.
BuildFigures build_figures(Text text, std::int64_t head_dim, int capability_major);

}  // namespace warpscope::kernels::triton
