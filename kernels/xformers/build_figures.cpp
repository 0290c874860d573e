#include "kernels/xformers/build_figures.hpp"

#include <array>

#include "kernels/xformers/figure_table.hpp"

namespace warpscope::kernels::xformers {
namespace {

// Address code stands in front of the copies and products that need it; elsewhere the compiler mixes it with
// the part's own instructions.
bool stands_in_front(Part part) {
  return part == kPrologue || part == kScores || part == kQueryAddresses || part == kOutput;
}

// Whether there are a bias, a mask, and a key block that reaches it; then whether there is dropout.
// Instructions that each jumps over where there is none (experiments/reference/measured-h200/loop_jumps.csv,
// 64x128).
constexpr std::array kQuestions = {221, 98, 99};
constexpr int kOverDropout = 338;

CountedPart counted_part(FigureRow row) {
  CountedPart result;
  if (row.part == kBranches) {
    for (const int over : kQuestions) {
      result.push_back({.end = BlockEnd::branch, .jumps_over = over});
    }
  } else if (row.part == kOutput) {
    result.push_back({.end = BlockEnd::branch, .jumps_over = kOverDropout});
    --row.branch;
  }
  CountedBlock counted{.spread = spread_instructions(row), .chain = chained_instructions(row)};
  if (stands_in_front(row.part)) {
    counted.end = BlockEnd::join;
  } else if (row.part == kScoreSlice || row.part == kOutputSlice) {
    counted.end = BlockEnd::branch;
  }
  result.push_back(counted);
  return result;
}

}  // namespace

BuildFigures build_figures(const ForwardTile& tile, int capability_major) {
  BuildFigures build;
  // exp2f without fast math; the scale, the maximum and the exponential are separate loops of the source.
  build.math = {.fused_multiply_add = false, .fast_exp2 = false, .mma_depth = 8};
  build.estimate_moves = false;  // the figures contain them
  build.estimate_copy_addresses = false;
  for (const FigureRow& row : figure_rows()) {
    if (row.head_dim == tile.head_dim && row.capability_major == capability_major) {
      build.parts[{row.part, 0}] = counted_part(row);
    }
  }
  return build;
}

}  // namespace warpscope::kernels::xformers
