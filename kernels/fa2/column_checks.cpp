#include "kernels/fa2/column_checks.hpp"

#include <algorithm>
#include <array>

namespace warpscope::kernels::fa2 {
namespace {

struct Row {
  int head_dim;
  FigureCounts full;
  FigureCounts causal;
};

// Counted on PyTorch's build for sm_90 at head dimensions 24, 48, 80, 104, 160 and 224 (checked_columns.csv):
// mostly LEA and LDC of addresses, which stand as integers, IMAD, and addresses that come from local memory.
// The builds with divided keys were not counted and borrow these.
constexpr std::array kRows = {
    Row{32,
        {.integer = 11, .move = 6, .multiply = 7, .load = 12, .store = 3},
        {.integer = 39, .move = 4, .load = 6, .store = 2}},
    Row{64,
        {.integer = 70, .move = 1, .multiply = 48, .load = 13, .store = 2},
        {.integer = 49, .move = 25, .load = 9, .store = 2}},
    Row{96, {.integer = 36, .load = 4}, {.integer = 36}},
    Row{128, {.integer = 42, .move = 52, .load = 19, .store = 10}, {.integer = 38, .load = 11}},
    Row{192, {.integer = 34}, {.integer = 34}},
    Row{256,
        {.integer = 53, .multiply = 47, .load = 3, .store = 1},
        {.integer = 55, .move = 12, .multiply = 47, .load = -3}},
};
// Of head dimension 96. With the stores and dead loads of its copies a CTA of six head dimensions has 110 too
// few to 94 too many.
constexpr FigureCounts kCtaBegin{.integer = 185};

}  // namespace

ColumnChecks column_checks(int head_dim, bool causal) {
  const auto* row = std::ranges::find(kRows, head_dim, &Row::head_dim);
  if (row == kRows.end()) {
    return {};
  }
  return {kCtaBegin, causal ? row->causal : row->full};
}

FigureCounts with_checks(FigureCounts counts, const FigureCounts& checks) {
  counts.integer += checks.integer;
  counts.move += checks.move;
  counts.multiply += checks.multiply;
  counts.load += checks.load;
  counts.store += checks.store;
  return counts;
}

}  // namespace warpscope::kernels::fa2
