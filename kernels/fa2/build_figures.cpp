#include "kernels/fa2/build_figures.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/fa2/figure_table.hpp"

namespace warpscope::kernels::fa2 {
namespace {

// With bounds to check, an iteration at head dimension 64 has about 120 instructions more, mainly moves
// (machine code of the same build), at 128 none: 906 instructions either way. Above 128 the kernels are
// always compiled that way, and their totals contain it.
constexpr int kUnevenMoves = 60;
constexpr int kUnevenMultiplies = 60;
constexpr int kLargestHeadDimWithMoves = 96;

// Figures exist for head dimensions 64 and 128; loops of others were counted as a whole.
bool is_counted(int head_dim) {
  return head_dim == 64 || head_dim == 128;
}

// Registers of these instantiations suffice, so what is borrowed from a counted one comes without its spills.
FigureCounts without_spills(FigureCounts counts) {
  counts.load = counts.load_64 = counts.store = counts.store_64 = 0;
  return counts;
}

/// A mark of the program: forward_program.cpp.
struct Mark {
  Part part;
  Iteration iteration;

  bool operator==(const Mark&) const = default;
};

// An iteration over a key block is split where the next K tile is copied under a condition: scores before,
// output after.
constexpr std::array kMarks = {
    Mark{kPrologue, kSteady}, Mark{kScores, kFirst},  Mark{kOutput, kFirst},  Mark{kScores, kMasking},
    Mark{kOutput, kMasking},  Mark{kScores, kSteady}, Mark{kOutput, kSteady}, Mark{kEpilogue, kSteady},
};

const FigureRow* find(Build build, int head_dim, int capability_major, bool causal, const Mark& mark) {
  const FigureRow* best = nullptr;
  for (const FigureRow& row : figure_rows()) {
    const bool fits = row.build == build && row.head_dim == head_dim && row.causal == causal &&
                      Mark{row.part, row.iteration} == mark;
    // Another generation's count is closer than none.
    if (fits && (best == nullptr || row.capability_major == capability_major)) {
      best = &row;
    }
  }
  return best;
}

FigureCounts figure(Build build, int head_dim, int capability_major, bool causal, const Mark& mark) {
  if (const FigureRow* row = find(build, head_dim, capability_major, causal, mark)) {
    return row->counts;
  }
  const bool in_iteration = mark.part == kScores || mark.part == kOutput;
  if (build == Build::torch && (!in_iteration || !is_counted(head_dim))) {
    return figure(Build::upstream, head_dim, capability_major, causal, mark);
  }
  if (is_counted(head_dim) || (in_iteration && mark.iteration == kSteady)) {
    return {};
  }
  return without_spills(figure(build, head_dim < 128 ? 64 : 128, capability_major, causal, mark));
}

}  // namespace

BuildFigures build_figures(Build build, const ForwardTile& tile, bool causal, bool even, int capability_major,
                           bool as_built) {
  BuildFigures result;
  if (build == Build::torch) {
    result.math = {.fused_multiply_add = false, .fast_exp2 = false};
  }
  result.estimate_moves = false;  // the figures contain them
  // Seen in the sm_90 code of both counted head dimensions, and in none of the sm_80 code.
  if (capability_major >= 9) {
    result.exchanged.insert(kNextKeys);
  }
  for (const Mark& mark : kMarks) {
    FigureCounts counts = figure(build, tile.head_dim, capability_major, causal, mark);
    if (!as_built) {
      counts = without_spills(counts);
    }
    if (mark.part == kOutput && !even && tile.head_dim <= kLargestHeadDimWithMoves) {
      counts.move += kUnevenMoves;
      counts.multiply += kUnevenMultiplies;
    }
    result.parts[{mark.part, mark.iteration}] = {{.spread = counted_instructions(counts)}};
  }
  return result;
}

// nvcc 13.0, sm_90, as in figure_table.cpp: no spills in the loop, and as many moves as there are at 128
// columns.
void set_dropout_figures(BuildFigures& figures, int head_dim) {
  const FigureCounts steady{.move = head_dim == 128 ? 7 : 0};
  figures.parts[{kOutput, kSteady}] = {{.spread = counted_instructions(steady)}};
}

}  // namespace warpscope::kernels::fa2
