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
constexpr int kDivisionSlot = 0;
// Of rows of 32, 64, ... 1024 columns in CUDA 11.8's code for sm_80
// (experiments/reference/machine-code/pytorch_2023.csv).
constexpr std::array kRegistersCuda11 = {21, 22, 30, 31, 39, 55};

/// Measured on an H200: 80 for 64 elements per lane, 48 for 32; the row is what grows.
int registers_of(const SoftmaxTask& task, int columns, int elements) {
  const auto size = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(columns / kLanes)) - 1);
  return task.cuda_11 ? kRegistersCuda11.at(size) : 16 + elements;
}

/// The CTA program: the row is in registers from the first load to the last store.
void run(CtaMachine& machine, const SoftmaxTask& task, int rows, int columns) {
  const WarpSplit split{kWarps, 1, 1};
  const Fragment stored = machine.fragment(rows, columns, task.type, Layout::row_per_warp, split);
  const Fragment x = machine.fragment(rows, columns, ElementType::fp32, Layout::row_per_warp, split);
  const RowVector maximum = machine.row_vector(x);
  const RowVector sum = machine.row_vector(x);
  const GlobalTile source{task.source, block_index(1), block_index(0) * rows, 0, rows, columns};
  GlobalTile target = source;
  target.tensor = task.target;

  machine.part(kText);
  machine.load(stored, source);
  machine.convert(x, stored);
  machine.mask(x, Mask{0, 0, task.cols, false, 0});  // columns up to the next power of two do not count
  machine.reduce_rows(maximum, Reduce::max, x, false);
  machine.finish_rows(maximum, Reduce::max);
  machine.apply(x, BinaryOp::subtract, x, maximum);
  machine.apply(x, UnaryOp::exp, x);
  machine.reduce_rows(sum, Reduce::sum, x, false);
  machine.finish_rows(sum, Reduce::sum);
  machine.apply(x, BinaryOp::divide, x, sum);
  machine.convert(stored, x);
  machine.store(target, stored);
  if (task.causal) {
    machine.loop(kDivisionSlot, [&](const Affine&) { machine.part(kDivisionSubroutine); });
  }
}

}  // namespace

std::int64_t masked_spans(const SoftmaxTask& task, std::int64_t row, std::int64_t span) {
  if (!task.causal) {
    return 0;
  }
  const std::int64_t visible = std::clamp<std::int64_t>(row + 1 + task.cols - task.rows, 0, task.cols);
  return visible == task.cols ? 0 : ceil_div(task.cols, span) - visible / span;
}

LaunchPlan warp_softmax_launch(const SoftmaxTask& task) {
  const auto padded = static_cast<int>(std::bit_ceil(static_cast<std::uint64_t>(task.cols)));
  const int columns = std::max(padded, kLanes);
  const int rows_per_warp = columns <= kTwoRowColumns ? 2 : 1;
  const int rows = kWarps * rows_per_warp;
  const std::int64_t blocks = ceil_div(task.rows, rows);
  LaunchPlan launch;
  launch.name = fmt::format("softmax_warp_forward<{}>", std::bit_width(static_cast<unsigned>(padded)) - 1);
  launch.grid = grid_of(blocks, task.segments, 1);
  launch.warps = kWarps;
  const int elements = rows_per_warp * columns / kLanes;
  launch.registers_per_thread = static_cast<std::uint32_t>(registers_of(task, columns, elements));
  launch.build = warp_softmax_figures(elements, task.cuda_11);
  launch.programs.push_back(
      {"rows", [task, rows, columns](CtaMachine& machine) { run(machine, task, rows, columns); }});
  if (!task.causal) {
    launch.classes.push_back({0, {}, {}});
    return launch;
  }
  // Class c: CTAs whose last row needs c subroutine calls per warp. Rows of a CTA differ by at most one.
  const std::int64_t most = rows_per_warp * ceil_div(task.cols, kLanes);
  for (std::int64_t calls = 0; calls <= most; ++calls) {
    launch.classes.push_back({0, {static_cast<std::uint32_t>(calls)}, {}});
  }
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::int64_t last_row = std::min((block + 1) * rows, task.rows) - 1;
    launch.class_of_block[0].push_back(
        static_cast<std::uint32_t>(rows_per_warp * masked_spans(task, last_row, kLanes)));
  }
  return launch;
}

}  // namespace warpscope::kernels::standard
