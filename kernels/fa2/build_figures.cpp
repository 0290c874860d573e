#include "kernels/fa2/build_figures.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "kernels/fa2/figure_table.hpp"
#include "kernels/fa2/uneven_figures.hpp"
#include "kernels/machine/cta_ends.hpp"

namespace warpscope::kernels::fa2 {
namespace {

// Of the upstream build figures exist for head dimensions 64 and 128; loops of others were counted as a
// whole.
bool is_counted(int head_dim) {
  return head_dim == 64 || head_dim == 128;
}

FigureCounts without_spills(FigureCounts counts) {
  counts.load = counts.load_64 = counts.store = counts.store_64 = 0;
  return counts;
}

// nvcc 13.0, sm_90, both head dimensions: 8 LDC of 4 lines; operands of 3 or 4.
constexpr ParameterLines kParameters{.loaded = 4, .operands = 4};

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
  // What is not counted of the upstream build is as in PyTorch's.
  const bool in_loop = (mark.part == kScores || mark.part == kOutput) && mark.iteration == kSteady;
  if (build == Build::upstream && !is_counted(head_dim) && !in_loop) {
    return without_spills(figure(Build::torch, head_dim, capability_major, causal, mark));
  }
  return {};
}

/// `more` may be less than nothing, a count may not.
int sum(int count, int more) {
  return std::max(0, count + more);
}

FigureCounts sum(const FigureCounts& counts, const FigureCounts& more) {
  return {sum(counts.integer, more.integer),   sum(counts.move, more.move),
          sum(counts.multiply, more.multiply), sum(counts.uniform, more.uniform),
          sum(counts.special, more.special),   sum(counts.branch, more.branch),
          sum(counts.convert, more.convert),   sum(counts.load, more.load),
          sum(counts.load_64, more.load_64),   sum(counts.store, more.store),
          sum(counts.store_64, more.store_64)};
}

/// What checking bounds adds at a mark.
FigureCounts more_at(const Mark& mark, const UnevenFigures& uneven) {
  if (mark == Mark{kOutput, kSteady}) {
    return uneven.steady;
  }
  switch (mark.part) {
    case kPrologue:
      return uneven.prologue;
    case kEpilogue:
      return uneven.epilogue;
    case kOutput:
      return uneven.masked;
    default:
      return {};
  }
}

/// Row sums go first where an iteration stores as many words, but not in builds of even lengths that store
/// exponentials (reloads.csv).
bool keeps_row_sums_in_memory(const ForwardTile& tile, int stores, bool even, int exponentials) {
  const int rows_per_thread = tile.rows / (8 * tile.warps);
  return stores >= rows_per_thread && (exponentials == 0 || !even);
}

}  // namespace

BuildFigures build_figures(Build build, const ForwardTile& tile, bool causal, bool even, bool fills_head,
                           int capability_major, bool as_built) {
  BuildFigures result;
  if (build == Build::torch) {
    result.math = {.fused_multiply_add = false, .fast_exp2 = false, .fast_division = false};
  }
  result.estimate_moves = false;  // the figures contain them
  result.checks_columns = !fills_head;
  // Seen in the sm_90 code of both counted head dimensions, and in none of the sm_80 code.
  if (capability_major >= 9) {
    result.exchanged.insert(kNextKeys);
  }
  if (as_built) {
    const LocalMemory local = local_memory(build, tile.head_dim, capability_major, causal, even);
    result.spilled_words = local.words;
    result.local.exponentials = local.exponentials;
    result.spread_over_banks = spreads_over_banks(build, tile.head_dim, even);
  }
  for (const Mark& mark : kMarks) {
    FigureCounts counts = figure(build, tile.head_dim, capability_major, causal, mark);
    if (!as_built) {
      counts = without_spills(counts);
    }
    if (!even) {
      counts = sum(counts,
                   more_at(mark, uneven_figures(build, tile.head_dim, causal, capability_major, fills_head)));
    }
    if (mark == Mark{kOutput, kSteady}) {
      result.local.row_sums = keeps_row_sums_in_memory(tile, counts.store, even, result.local.exponentials);
    }
    const std::vector<CountedInstruction> counted = counted_instructions(counts);
    result.parts[{mark.part, mark.iteration}] = mark.part == kPrologue   ? cta_begin(counted, kParameters)
                                                : mark.part == kEpilogue ? cta_end(counted)
                                                                         : CountedPart{{.spread = counted}};
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
