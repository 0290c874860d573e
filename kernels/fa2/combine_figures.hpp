// Instructions of flash_fwd_splitkv_combine_kernel that its source does not show.
#pragma once

#include "kernels/fa2/build_figures.hpp"
#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels::fa2 {

/// Marks of the combining kernel's parts.
enum CombinePart : int {
  kCombineBegin,    ///< indices
  kCombineLoad,     ///< log-sum-exps of the parts, by the warps that have some
  kCombineWeights,  ///< of the parts, but
  kCombineLog,      ///< what only those warps do
  kCombineSum,      ///< before the first output
  kCombineFour,     ///< outputs are added
  kCombineTwo,
  kCombineOne,
  kCombineEnd,
};

BuildFigures combine_figures(Build build);

}  // namespace warpscope::kernels::fa2
