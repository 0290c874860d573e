#include "kernels/standard/grid.hpp"

#include <fmt/format.h>

#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels::standard {

std::array<std::uint32_t, 3> grid_of(std::int64_t x, std::int64_t y, std::int64_t z) {
  constexpr std::array<std::int64_t, 3> kLimits = {2147483647, 65535, 65535};  // CUDA programming guide
  const std::array<std::int64_t, 3> size = {x, y, z};
  std::array<std::uint32_t, 3> grid{};
  for (std::size_t d = 0; d < size.size(); ++d) {
    if (size[d] > kLimits[d]) {
      throw UnsupportedProblem(fmt::format("the launch needs {} CTAs in grid dimension {}, CUDA allows {}",
                                           size[d], d, kLimits[d]));
    }
    grid[d] = static_cast<std::uint32_t>(size[d]);
  }
  return grid;
}

void add_column_programs(LaunchPlan& launch, std::int64_t columns, bool ragged, int columns_per_block,
                         const std::function<ColumnProgram(const Affine&)>& make) {
  const auto add = [&](const std::string& name, const Affine& first_column) {
    ColumnProgram program = make(first_column);
    launch.programs.push_back({name, std::move(program.text)});
    launch.classes.push_back(
        {static_cast<int>(launch.programs.size()) - 1, std::move(program.trip_counts), {}});
  };
  const bool whole = columns > 1 || !ragged;
  if (whole) {
    add("whole", block_index(0) * columns_per_block);
  }
  if (ragged) {
    add("ragged", (columns - 1) * columns_per_block);
  }
  if (whole && ragged) {
    launch.class_of_block[0].assign(static_cast<std::size_t>(columns), 0);
    launch.class_of_block[0].back() = 1;
  }
}

}  // namespace warpscope::kernels::standard
