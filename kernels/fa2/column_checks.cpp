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
// mostly LEA and LDC of addresses, which stand as integers, and IMAD. The builds with divided keys were not
// counted and borrow these.
constexpr std::array kRows = {
    Row{32, {.integer = 32, .multiply = 7}, {.integer = 51}},
    Row{64, {.integer = 86, .multiply = 48}, {.integer = 85}},
    Row{96, {.integer = 36}, {.integer = 36}},
    Row{128, {.integer = 71, .move = 52}, {.integer = 49}},
    Row{192, {.integer = 34}, {.integer = 34}},
    Row{256, {.integer = 57, .multiply = 47}, {.integer = 64, .multiply = 47}},
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
  return counts;
}

}  // namespace warpscope::kernels::fa2
