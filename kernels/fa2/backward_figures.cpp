#include "kernels/fa2/backward_figures.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "kernels/fa2/backward_ends.hpp"
#include "kernels/fa2/backward_figure_table.hpp"
#include "kernels/fa2/backward_program.hpp"
#include "kernels/machine/cta_ends.hpp"

namespace warpscope::kernels::fa2 {
namespace {

BackwardCase case_of(const BackwardShape& shape) {
  return !shape.even            ? BackwardCase::uneven
         : shape.problem.causal ? BackwardCase::causal
                                : BackwardCase::full;
}

// Another build's count is closer than one of another head dimension, another generation's closer than both.
FigureCounts figure(Build build, int head_dim, int capability_major, BackwardCase compiled_for,
                    BackwardCount part) {
  const auto distance = [&](const BackwardFigureRow& row) {
    constexpr int kOtherBuild = 2;
    constexpr int kPerHeadDim = 4;
    return (row.capability_major == capability_major ? 0 : 1) + (row.build == build ? 0 : kOtherBuild) +
           kPerHeadDim * std::abs(row.head_dim - head_dim);
  };
  const BackwardFigureRow* best = nullptr;
  for (const BackwardFigureRow& row : backward_figure_rows()) {
    if (row.part == part && row.compiled_for == compiled_for &&
        (best == nullptr || distance(row) < distance(*best))) {
      best = &row;
    }
  }
  return best == nullptr ? FigureCounts{} : best->counts;
}

/// Threads of a CTA set up addresses of tiles that they read before they set up those that they write: more
/// of what was counted for both stands in front. Spilled values are stored in front and loaded behind.
FigureCounts part_before_steps(FigureCounts counts) {
  for (int* count : {&counts.integer, &counts.move, &counts.multiply, &counts.uniform, &counts.special}) {
    *count -= *count * 2 / 5;
  }
  counts.load = 0;
  return counts;
}

FigureCounts part_behind_steps(const FigureCounts& counts) {
  const FigureCounts before = part_before_steps(counts);
  FigureCounts behind;
  behind.integer = counts.integer - before.integer;
  behind.move = counts.move - before.move;
  behind.multiply = counts.multiply - before.multiply;
  behind.uniform = counts.uniform - before.uniform;
  behind.special = counts.special - before.special;
  behind.load = counts.load;
  return behind;
}

/// Head dimension of the tile, and BuildFigures::reduction_addresses. In machine code most reductions wait
/// for one that came two or three before, others for none: those between and itself, over the share of those
/// that are waited for (pytorch_reduction_waits.csv). At 192 that is 12, more than there is room for, and at
/// 32 builds with bounds wait for none.
constexpr std::array<std::pair<int, int>, 6> kReductionAddresses = {
    {{32, 11}, {64, 5}, {96, 5}, {128, 5}, {192, 11}, {256, 6}}};

int reduction_addresses(const BackwardTile& tile) {
  return std::ranges::find(kReductionAddresses, tile.head_dim, &std::pair<int, int>::first)->second;
}

BuildFigures without_parts(Build build) {
  BuildFigures result;
  if (build == Build::torch) {
    result.math = {.fused_multiply_add = false, .fast_exp2 = false};
  }
  result.estimate_moves = false;  // the figures contain them
  return result;
}

// As in the forward kernel (build_figures.cpp), whose parameters these are and more.
constexpr ParameterLines kMainParameters{.loaded = 4, .operands = 4};

/// Share number `i` of `shares` equal ones.
std::vector<CountedInstruction> share_of(std::vector<CountedInstruction> kinds, int i, int shares) {
  for (CountedInstruction& kind : kinds) {
    kind.count = kind.count * (i + 1) / shares - kind.count * i / shares;
  }
  return kinds;
}

// Parameters: nvcc 13.0, sm_90, head dimensions 64 and 128. What stands behind the first block lies evenly in
// the rounds and behind them.
BuildFigures of_small_kernel(Build build, const BackwardShape& shape, BackwardCount part,
                             const ParameterLines& parameters, int rounds) {
  constexpr int kCountedOn = 9;
  BuildFigures result = without_parts(build);
  const FigureCounts counts = figure(build, shape.tile.head_dim, kCountedOn, BackwardCase::full, part);
  result.parts[{kBeforeLoads, 0}] = cta_begin(counted_instructions(part_before_steps(counts)), parameters);
  const std::vector<CountedInstruction> behind = counted_instructions(part_behind_steps(counts));
  for (int round = 0; round < rounds; ++round) {
    result.parts[{kRound, round}] = {{.spread = share_of(behind, round, rounds + 1), .end = BlockEnd::join}};
  }
  result.parts[{kBehindLoads, 0}] = {{.spread = share_of(behind, rounds, rounds + 1)}};
  return result;
}

}  // namespace

BuildFigures backward_figures(Build build, const BackwardShape& shape, int capability_major) {
  BuildFigures result = without_parts(build);
  result.checks_columns = shape.problem.head_dim != shape.tile.head_dim;
  result.reduction_addresses = reduction_addresses(shape.tile);
  const auto add = [&](BackwardPart part, const FigureCounts& counts) {
    result.parts[{part, 0}] = {{.spread = counted_instructions(counts)}};
  };
  const auto counted = [&](BackwardCount part) {
    return figure(build, shape.tile.head_dim, capability_major, case_of(shape), part);
  };
  const FigureCounts cta = counted(BackwardCount::cta);
  result.parts[{kBackPrologue, 0}] = cta_begin(counted_instructions(part_before_steps(cta)), kMainParameters);
  add(kBackStep, counted(BackwardCount::step));
  add(kBackEpilogue, part_behind_steps(cta));
  return result;
}

BuildFigures row_products_figures(Build build, const BackwardShape& shape) {
  return of_small_kernel(build, shape, BackwardCount::row_products, {.loaded = 5, .operands = 7},
                         row_products_rounds(shape.tile));
}

BuildFigures convert_figures(Build build, const BackwardShape& shape) {
  return of_small_kernel(build, shape, BackwardCount::convert, {.loaded = 5, .operands = 5}, 0);
}

}  // namespace warpscope::kernels::fa2
