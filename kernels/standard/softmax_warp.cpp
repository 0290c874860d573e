#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

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

/// Of a row, what the lanes of its warp hold of it: an element each.
struct Span {
  Fragment stored;
  Fragment x;
  GlobalTile source;
};

/// Each element ends a basic block or several: the division has a path for special operands and one for rows
/// whose sum is 0, and behind each store a thread stops where its row ends.
void divide_and_store(CtaMachine& machine, const Span& span, const RowVector& sum, int target) {
  machine.part(kDivisions);
  machine.apply(span.x, BinaryOp::divide, span.x, sum);
  machine.convert(span.stored, span.x);
  machine.part(kQuotient);
  GlobalTile tile = span.source;
  tile.tensor = target;
  machine.store(tile, span.stored);
  machine.part(kNextElement);
}

/// A row of each warp, from its columns' first load to their last store in registers.
struct Row {
  std::vector<Span> spans;
  RowVector maximum;
  RowVector sum;
};

Row load_row(CtaMachine& machine, const SoftmaxTask& task, const Affine& first_row, int columns) {
  const WarpSplit split{kWarps, 1, 1};
  Row row;
  for (int column = 0; column < columns; column += kLanes) {
    const Span span{machine.fragment(kWarps, kLanes, task.type, Layout::row_per_warp, split),
                    machine.fragment(kWarps, kLanes, ElementType::fp32, Layout::row_per_warp, split),
                    {task.source, block_index(1), first_row, column, kWarps, kLanes}};
    machine.load(span.stored, span.source);
    machine.convert(span.x, span.stored);
    // Columns up to the next power of two do not count.
    machine.mask(span.x, Mask{0, column, task.cols, false, 0});
    row.spans.push_back(span);
  }
  row.maximum = machine.row_vector(row.spans.front().x);
  row.sum = machine.row_vector(row.spans.front().x);
  return row;
}

void exponentials(CtaMachine& machine, const Row& row) {
  for (const Span& span : row.spans) {
    machine.reduce_rows(row.maximum, Reduce::max, span.x, &span != &row.spans.front());
  }
  machine.finish_rows(row.maximum, Reduce::max);
  for (const Span& span : row.spans) {
    machine.apply(span.x, BinaryOp::subtract, span.x, row.maximum);
    machine.apply(span.x, UnaryOp::exp, span.x);
    machine.reduce_rows(row.sum, Reduce::sum, span.x, &span != &row.spans.front());
  }
  machine.finish_rows(row.sum, Reduce::sum);
}

/// The CTA program.
void run(CtaMachine& machine, const SoftmaxTask& task, int rows, int columns) {
  machine.part(kText);
  std::vector<Row> loaded;
  for (int first = 0; first < rows; first += kWarps) {
    loaded.push_back(load_row(machine, task, block_index(0) * rows + first, columns));
  }
  for (const Row& row : loaded) {
    exponentials(machine, row);
  }
  for (const Row& row : loaded) {
    for (const Span& span : row.spans) {
      divide_and_store(machine, span, row.sum, task.target);
    }
  }
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
