#include "kernels/fa2/split_figures.hpp"

#include <array>
#include <span>

#include "kernels/fa2/column_checks.hpp"
#include "kernels/fa2/figure_table.hpp"
#include "kernels/fa2/torch_split_table.hpp"
#include "kernels/machine/cta_ends.hpp"

namespace warpscope::kernels::fa2 {
namespace {

struct Row {
  int head_dim;
  bool divided;
  bool causal;
  Part part;
  Iteration iteration;
  FigureCounts counts;
};

// Dao-AILab/flash-attention 0251105a compiled by nvcc 13.0 with -O3 --use_fast_math for sm_90, fp16, lengths
// that are no multiples of the tile: how often each line of the machine code ran (experiments/reference/
// measured-h200/counters_split.md), by part, minus what the trace machine expands for it. Stores of zeros in
// place of rows of V that do not exist, all predicated off, count as integer instructions. Loops over
// 64 x 128 and 64 x 64 scores have nothing more than their source shows. Columns: integer, move, multiply,
// uniform, special, branch, convert, load, load_64, store, store_64.
// clang-format off
constexpr std::array kRows = {
    Row{64, true, false, kPrologue, kSteady, {140, 25, 140, 192, 49, 7, 9, 0, 0, 0, 0}},
    Row{64, true, false, kScores, kFirst, {85, 0, 57, 12, 0, 0, 0, 0, 0, 0, 0}},
    Row{64, true, false, kOutput, kFirst, {25, 4, 4, 18, 1, 2, 0, 0, 0, 1, 0}},
    Row{64, true, false, kScores, kSteady, {5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}},
    Row{64, true, false, kOutput, kSteady, {19, 3, 2, 10, 0, 0, 0, 2, 0, 1, 0}},
    Row{64, true, false, kEpilogue, kSteady, {35, 3, 13, 3, 7, 1, 0, 0, 0, 0, 0}},
    Row{64, true, true, kPrologue, kSteady, {152, 29, 136, 197, 49, 7, 9, 0, 0, 0, 0}},
    Row{64, true, true, kScores, kFirst, {95, 6, 53, 12, 0, 0, 0, 0, 0, 0, 0}},
    Row{64, true, true, kOutput, kFirst, {85, 2, 6, 8, 2, 2, 0, 0, 0, 2, 0}},
    Row{64, true, true, kScores, kMasking, {20, 2, 28, 6, 2, 0, 0, 0, 0, 0, 0}},
    Row{64, true, true, kOutput, kMasking, {10, 12, 4, 10, 1, 2, 0, 3, 0, 3, 0}},
    Row{64, true, true, kScores, kSteady, {5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}},
    Row{64, true, true, kOutput, kSteady, {19, 3, 2, 10, 0, 0, 0, 2, 0, 1, 0}},
    Row{64, true, true, kEpilogue, kSteady, {40, 3, 16, 3, 7, 1, 0, 0, 0, 0, 0}},
    Row{128, true, false, kPrologue, kSteady, {133, 19, 145, 10, 59, 7, 9, 0, 0, 0, 0}},
    Row{128, true, false, kScores, kFirst, {60, 0, 32, 0, 1, 0, 0, 0, 0, 0, 0}},
    Row{128, true, false, kOutput, kFirst, {21, 2, 6, 10, 1, 2, 0, 0, 0, 0, 0}},
    Row{128, true, false, kEpilogue, kSteady, {32, 4, 6, 3, 5, 1, 0, 0, 0, 0, 0}},
    Row{128, true, true, kPrologue, kSteady, {143, 20, 133, 8, 62, 7, 9, 0, 0, 0, 0}},
    Row{128, true, true, kScores, kFirst, {70, 1, 34, 0, 1, 0, 0, 0, 0, 0, 0}},
    Row{128, true, true, kOutput, kFirst, {51, 0, 13, 1, 2, 2, 0, 0, 0, 0, 0}},
    Row{128, true, true, kScores, kMasking, {8, 0, 10, 0, 1, 0, 0, 0, 0, 0, 0}},
    Row{128, true, true, kOutput, kMasking, {12, 1, 6, 10, 1, 2, 0, 0, 0, 0, 0}},
    Row{128, true, true, kEpilogue, kSteady, {32, 4, 6, 3, 5, 1, 0, 0, 0, 0, 0}},
    Row{64, false, false, kPrologue, kSteady, {111, 16, 134, 14, 57, 7, 3, 0, 0, 0, 0}},
    Row{64, false, false, kScores, kFirst, {45, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0}},
    Row{64, false, false, kOutput, kFirst, {17, 2, 6, 10, 2, 2, 0, 0, 0, 0, 0}},
    Row{64, false, false, kEpilogue, kSteady, {32, 2, 10, 5, 11, 2, 0, 0, 0, 0, 0}},
    Row{128, false, false, kPrologue, kSteady, {103, 13, 111, 14, 49, 7, 3, 0, 0, 0, 0}},
    Row{128, false, false, kScores, kFirst, {32, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0}},
    Row{128, false, false, kOutput, kFirst, {18, 2, 4, 10, 2, 2, 0, 0, 0, 0, 0}},
    Row{128, false, false, kEpilogue, kSteady, {32, 2, 10, 5, 11, 2, 0, 0, 0, 0, 0}},
};
// clang-format on

// The same code: LDC of 5 to 8 lines, operands of 5 to 9.
constexpr ParameterLines kParameters{.loaded = 6, .operands = 6};

/// The rows of the nearest instantiation of the upstream build that was counted: those of one part for masks
/// too.
struct Counted {
  int head_dim;
  bool divided;
  bool causal;
};

Counted nearest(const ForwardTile& tile, bool causal, bool divided) {
  return {tile.head_dim <= 64 ? 64 : 128, divided, causal && divided};
}

bool fits(const Row& row, const Counted& counted, bool even) {
  const bool at_edge = row.iteration != kSteady;  // its figures are mostly those of bounds
  return row.head_dim == counted.head_dim && row.divided == counted.divided && row.causal == counted.causal &&
         !(even && at_edge);
}

bool fits(const TorchSplitRow& row, const ForwardTile& tile, bool causal, bool even) {
  return row.head_dim == tile.head_dim && row.causal == causal && row.even == even;
}

}  // namespace

BuildFigures split_figures(Build build, const ForwardTile& tile, bool causal, bool divided, bool even,
                           bool fills_head) {
  BuildFigures result;
  result.checks_columns = !fills_head;
  const ColumnChecks checks = fills_head ? ColumnChecks{} : column_checks(tile.head_dim, causal);
  if (build == Build::torch) {
    result.math = {.fused_multiply_add = false, .fast_exp2 = false};
  }
  result.estimate_moves = false;  // the figures contain them
  const auto add = [&](Part part, Iteration iteration, const FigureCounts& counts) {
    const FigureCounts none;
    const FigureCounts& more = part == kPrologue                         ? checks.prologue
                               : part == kOutput && iteration == kSteady ? checks.steady
                                                                         : none;
    const std::vector<CountedInstruction> kinds = counted_instructions(with_checks(counts, more));
    result.parts[{part, iteration}] = part == kPrologue || part == kNoKeys ? cta_begin(kinds, kParameters)
                                      : part == kEpilogue                  ? cta_end(kinds)
                                                                           : CountedPart{{.spread = kinds}};
  };
  // What is not counted of the upstream build is as in PyTorch's.
  const bool own = build == Build::upstream && (tile.head_dim == 64 || tile.head_dim == 128);
  for (const TorchSplitRow& row : torch_split_rows()) {
    if (divided && fits(row, tile, causal, even) && (!own || row.part == kNoKeys)) {
      add(row.part, row.iteration, row.counts);
    }
  }
  const Counted counted = nearest(tile, causal, divided);
  for (const Row& row : kRows) {
    if (fits(row, counted, even) && (own || !divided)) {
      add(row.part, row.iteration, row.counts);
    }
  }
  return result;
}

}  // namespace warpscope::kernels::fa2
