#include "kernels/fa2/uneven_figures.hpp"

#include <algorithm>
#include <array>

#include "kernels/fa2/column_checks.hpp"

namespace warpscope::kernels::fa2 {
namespace {

// Machine code of the upstream build for sm_90 (figure_table.cpp) compiled with bounds to check: static
// instructions before the first product, from there to the loop by masked iterations, of the loop, and behind
// it to the exit, less those of the build without bounds and what the program's text has more. The causal row
// of 96 is borrowed: ends from the one without mask, iteration from PyTorch's.
constexpr std::array kRows = {
    UnevenFigures{32, false, {.integer = 190}, {.move = -41}, {}, {.integer = 43}},
    UnevenFigures{32, true, {.integer = 157}, {.move = 188}, {}, {.integer = 48}},
    UnevenFigures{64,
                  false,
                  {.integer = 324},
                  {.move = -55},
                  {-7, 189, 7, 0, 0, 0, 0, -18, 0, -20, 0},
                  {.integer = 113}},
    UnevenFigures{
        64, true, {.integer = 370}, {.move = 300}, {0, 4, -4, 0, 0, 0, 0, -3, 0, -2, 0}, {.integer = 106}},
    UnevenFigures{96, false, {.integer = 155}, {.move = 70}, {}, {.integer = 37}},
    UnevenFigures{96, true, {.integer = 155}, {.move = 4}, {}, {.integer = 37}},
    UnevenFigures{128, false, {.integer = 272}, {.move = -71}, {}, {.integer = 115}},
    UnevenFigures{128, true, {.integer = 274}, {.move = 146}, {}, {.integer = 111}},
};

// The same of PyTorch 2.11, executed instructions (pytorch_parts.csv). Of 192 and 256 it has one build for
// all.
constexpr std::array kTorchRows = {
    UnevenFigures{32,
                  false,
                  {.integer = 169, .store = 14},
                  {.move = 8, .load = 1, .store = 5},
                  {0, 0, 0, 0, 0, 0, 0, 11, 0, 4, 0},
                  {.integer = 25, .load = 8}},
    UnevenFigures{32,
                  true,
                  {.integer = 146, .load = 2, .store = 16},
                  {.move = 166, .load = 19, .store = 15},
                  {-17, -1, -1, 0, 0, -1, 0, 9, 0, 4, 0},
                  {.integer = 37, .load = 12}},
    UnevenFigures{64,
                  false,
                  {.integer = 306, .store = 2},
                  {.move = -12, .load = 1, .store = -9},
                  {0, 12, 0, 0, 0, 0, 0, -9, 0, 0, 0},
                  {.integer = 82, .load = -1}},
    UnevenFigures{64,
                  true,
                  {.integer = 369, .store = -3},
                  {.move = 215, .load = 19, .store = 2},
                  {0, -1, -4, 0, 0, 0, 0, -5, 0, -1, 0},
                  {.integer = 105, .load = 2}},
    UnevenFigures{
        96, false, {.integer = 142, .store = 9}, {.move = 40, .load = 1}, {}, {.integer = 54, .load = 7}},
    UnevenFigures{96, true, {.integer = 164}, {.move = 6, .load = -1, .store = -1}, {}, {.integer = 63}},
    UnevenFigures{128,
                  false,
                  {.integer = 256},
                  {.move = 8, .load = -12, .store = -7},
                  {0, -22, 0, 6, 0, 0, 0, -6, 0, -6, 0},
                  {.integer = 122}},
    UnevenFigures{128,
                  true,
                  {.integer = 268, .store = -2},
                  {.move = 130, .load = 29, .store = 29},
                  {0, -21, 0, 5, 0, 0, 0, -8, 0, -6, 0},
                  {.integer = 112, .load = 1}},
};

/// The loops of head dimension 64 for sm_80, without and with causal mask.
constexpr std::array<FigureCounts, 2> kSteadySm80 = {
    FigureCounts{-5, 151, 54, 1, 0, 0, 0, -22, 0, -22, 0},
    FigureCounts{0, 65, -2, 0, 0, 0, 0, -21, -1, -21, 0},
};

}  // namespace

UnevenFigures uneven_figures(Build build, int head_dim, bool causal, int capability_major, bool fills_head) {
  UnevenFigures result{head_dim, causal, {}, {}, {}, {}};
  for (const UnevenFigures& row : build == Build::torch ? kTorchRows : kRows) {
    if (row.head_dim == head_dim && row.causal == causal) {
      result = row;
    }
  }
  if (build == Build::upstream && head_dim == 64 && capability_major < 9) {
    result.steady = kSteadySm80[causal ? 1 : 0];
  }
  if (!fills_head) {
    const ColumnChecks checks = column_checks(head_dim, causal);
    result.prologue = with_checks(result.prologue, checks.prologue);
    result.steady = with_checks(result.steady, checks.steady);
  }
  return result;
}

}  // namespace warpscope::kernels::fa2
