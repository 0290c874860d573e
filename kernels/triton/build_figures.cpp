#include "kernels/triton/build_figures.hpp"

#include <algorithm>

namespace warpscope::kernels::triton {
namespace {

constexpr int kSmallestCounted = 64;

FigureCounts figure(Text text, int head_dim, int capability_major, Stretch stretch) {
  const auto rows = figure_rows();
  const auto found = std::ranges::find_if(rows, [&](const FigureRow& row) {
    return row.text == text && row.head_dim == head_dim && row.stretch == stretch &&
           row.capability_major == capability_major;
  });
  return found == rows.end() ? FigureCounts{} : found->counts;
}

FigureCounts without_spills(FigureCounts counts) {
  counts.load = counts.load_64 = counts.store = counts.store_64 = 0;
  return counts;
}

/// Addresses of what is read stand in front of the steps, those of what is written behind. Spilled values are
/// stored in front and loaded behind.
FigureCounts part_before_steps(FigureCounts counts) {
  for (int* count : {&counts.integer, &counts.move, &counts.multiply, &counts.uniform, &counts.special}) {
    *count -= *count * 2 / 5;
  }
  counts.load = counts.load_64 = 0;
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
  behind.load_64 = counts.load_64;
  return behind;
}

}  // namespace

BuildFigures build_figures(Text text, std::int64_t head_dim, int capability_major) {
  BuildFigures result;
  result.estimate_moves = false;  // the figures contain them
  result.estimate_copy_addresses = false;
  result.estimate_tile_addresses = false;
  const int counted = std::max(kSmallestCounted, static_cast<int>(head_dim));
  const auto add = [&](Part part, const FigureCounts& counts) {
    const bool spills = head_dim >= kSmallestCounted;
    result.parts[{part, 0}] = {{.spread = counted_instructions(spills ? counts : without_spills(counts))}};
  };
  const FigureCounts rest = figure(text, counted, capability_major, Stretch::rest);
  add(kBeforeSteps, part_before_steps(rest));
  add(kStep, figure(text, counted, capability_major, Stretch::step));
  add(kBehindSteps, part_behind_steps(rest));
  result.spilled_words = spilled_words(text, static_cast<int>(head_dim), capability_major);
  return result;
}

}  // namespace warpscope::kernels::triton
