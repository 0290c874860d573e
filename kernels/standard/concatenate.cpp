#include "kernels/standard/concatenate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "kernels/standard/build_figures.hpp"
#include "kernels/standard/grid.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr int kWarps = 16;
constexpr int kThreads = 32 * kWarps;
constexpr int kRounds = 4;
constexpr std::uint32_t kRegisters = 25;  // measured

void copy_rows(CtaMachine& machine, const ConcatenateTask& task, const ConcatenatedTensor& tensor, int rows) {
  const auto cols = static_cast<int>(task.cols);
  for (int round = 0; round < kRounds; ++round) {
    const Affine first = block_index(0) * (kRounds * rows) + round * rows;
    const Fragment values = machine.fragment(rows, cols, task.type, Layout::element_per_thread, {});
    machine.part(kRound);
    GlobalTile source{tensor.source, block_index(2), first, 0, rows, cols, OutOfRange::leave};
    if (tensor.transposed) {
      std::swap(source.row, source.col);
      source.transposed = true;
    }
    machine.load(values, source);
    machine.store({tensor.target, block_index(2), first, 0, rows, cols, OutOfRange::leave}, values);
  }
}

}  // namespace

LaunchPlan concatenate_launch(const ConcatenateTask& task) {
  const auto rows = static_cast<int>(kThreads / task.cols);
  std::int64_t longest = 0;
  LaunchPlan launch;
  launch.name = "CatArrayBatchedCopy";
  launch.warps = kWarps;
  launch.registers_per_thread = kRegisters;
  launch.build = concatenation_figures();
  for (const ConcatenatedTensor& tensor : task.tensors) {
    longest = std::max(longest, tensor.rows);
    launch.class_of_block[1].push_back(static_cast<std::uint32_t>(launch.classes.size()));
    launch.classes.push_back({static_cast<int>(launch.programs.size()), {}, {}});
    launch.programs.push_back({fmt::format("tensor {}", launch.programs.size()),
                               [=](CtaMachine& machine) { copy_rows(machine, task, tensor, rows); }});
  }
  launch.grid = grid_of(ceil_div(longest, std::int64_t{kRounds} * rows),
                        static_cast<std::int64_t>(task.tensors.size()), task.segments);
  return launch;
}

}  // namespace warpscope::kernels::standard
