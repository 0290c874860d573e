#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "kernels/standard/build_figures.hpp"
#include "kernels/standard/grid.hpp"
#include "kernels/standard/softmax.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr int kWarps = 4;
constexpr int kLanes = 32;
constexpr int kTwoRowColumns = 128;  // up to here a warp holds two rows
// Of rows of 32, 64, ... 1024 columns (experiments/reference/measured-h200/standard_backward.md).
constexpr std::array kRegisters = {23, 29, 32, 32, 55, 96};
// The same in CUDA 11.8's code for sm_80 (experiments/reference/machine-code/pytorch_2023.csv).
constexpr std::array kRegistersCuda11 = {20, 29, 32, 32, 56, 109};

/// The CTA program: both rows are in registers from the first load to the last store.
void run(CtaMachine& machine, const SoftmaxBackwardTask& task, int rows, int columns) {
  const WarpSplit split{kWarps, 1, 1};
  const auto values = [&](ElementType type) {
    return machine.fragment(rows, columns, type, Layout::row_per_warp, split);
  };
  const auto tile = [&](int tensor) {
    return GlobalTile{tensor, block_index(1), block_index(0) * rows, 0, rows, columns};
  };
  const Fragment stored_source = values(task.type);
  const Fragment stored_output = values(task.type);
  const Fragment source = values(ElementType::fp32);
  const Fragment output = values(ElementType::fp32);
  const RowVector sum = machine.row_vector(source);

  machine.part(kText);
  machine.load(stored_source, tile(task.source));
  machine.load(stored_output, tile(task.output));
  machine.convert(source, stored_source);
  machine.convert(output, stored_output);
  machine.reduce_rows(sum, Reduce::sum, source, false);
  machine.finish_rows(sum, Reduce::sum);
  machine.apply(sum, BinaryOp::multiply, sum, -1.0F);
  machine.multiply_add(source, output, sum, source);
  machine.convert(stored_source, source);
  machine.store(tile(task.target), stored_source);
}

}  // namespace

LaunchPlan warp_softmax_backward_launch(const SoftmaxBackwardTask& task) {
  const auto padded = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(task.cols)));
  const int columns = std::max(padded, kLanes);
  const int rows_per_warp = columns <= kTwoRowColumns ? 2 : 1;
  const int rows = kWarps * rows_per_warp;
  LaunchPlan launch;
  launch.name = fmt::format("softmax_warp_backward<{}>", std::bit_width(static_cast<unsigned>(padded)) - 1);
  launch.grid = grid_of(ceil_div(task.rows, rows), task.segments, 1);
  launch.warps = kWarps;
  const auto size = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(columns / kLanes)) - 1);
  launch.registers_per_thread =
      static_cast<std::uint32_t>((task.cuda_11 ? kRegistersCuda11 : kRegisters).at(size));
  launch.build =
      warp_softmax_backward_figures(rows_per_warp * columns / kLanes, rows_per_warp == 2, task.cuda_11);
  launch.programs.push_back(
      {"rows", [task, rows, columns](CtaMachine& machine) { run(machine, task, rows, columns); }});
  launch.classes.push_back({0, {}, {}});
  return launch;
}

}  // namespace warpscope::kernels::standard
