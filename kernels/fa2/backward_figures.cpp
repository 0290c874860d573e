#include "kernels/fa2/backward_figures.hpp"

namespace warpscope::kernels::fa2 {
namespace {

BuildFigures without_parts(Build build) {
  BuildFigures result;
  if (build == Build::torch) {
    result.math = {.fused_multiply_add = false, .fast_exp2 = false};
  }
  result.estimate_moves = false;  // the figures contain them
  return result;
}

}  // namespace

BuildFigures backward_figures(Build build, const BackwardShape& /*shape*/, int /*capability_major*/) {
  return without_parts(build);
}

BuildFigures row_products_figures(Build build, const BackwardShape& /*shape*/) {
  return without_parts(build);
}

BuildFigures convert_figures(Build build, const BackwardShape& /*shape*/) {
  return without_parts(build);
}

}  // namespace warpscope::kernels::fa2
