// Grids whose last column of CTAs is ragged and therefore runs a program of its own.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/machine/plan.hpp"

namespace warpscope::kernels::standard {

constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

/// Throws UnsupportedProblem where a dimension exceeds what CUDA can launch.
std::array<std::uint32_t, 3> grid_of(std::int64_t x, std::int64_t y, std::int64_t z);

/// What one kind of CTA runs.
struct ColumnProgram {
  std::function<void(CtaMachine&)> text;
  std::vector<std::uint32_t> trip_counts;
};

/// Adds a program for the CTAs of a whole column tile and, if the last of `columns` is ragged, one for those:
/// an affine position cannot say where a tile ends, a constant can. `make` gets the CTA's first column.
void add_column_programs(LaunchPlan& launch, std::int64_t columns, bool ragged, int columns_per_block,
                         const std::function<ColumnProgram(const Affine&)>& make);

}  // namespace warpscope::kernels::standard
