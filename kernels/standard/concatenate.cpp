#include "kernels/standard/concatenate.hpp"

#include <algorithm>
#include <numeric>

#include "kernels/standard/build_figures.hpp"
#include "kernels/standard/grid.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr int kWarps = 16;
constexpr int kThreads = 32 * kWarps;
constexpr int kCtasPerSm = 2;
constexpr std::int64_t kRegisters = 25;      // measured
constexpr std::int64_t kSectorElements = 16;  // of 32 bytes

/// What CTA x does in round r: rows (x + r * ctas) * rows_per_round and on, all of their columns.
struct Rounds {
  std::int64_t rows_per_round;
  std::int64_t ctas;

  std::uint32_t trips(std::int64_t rows, std::int64_t cta) const {
    const std::int64_t rounds = ceil_div(rows, rows_per_round);
    return static_cast<std::uint32_t>(ceil_div(std::max<std::int64_t>(rounds - cta, 0), ctas));
  }
};

void copy_rows(CtaMachine& machine, const ConcatenateTask& task, const ConcatenatedTensor& tensor,
               const Rounds& rounds) {
  const auto rows = static_cast<int>(rounds.rows_per_round);
  const auto cols = static_cast<int>(task.cols);
  machine.part(kPass);
  machine.loop(0, [&](const Affine& round) {
    const Affine first = block_index(0) * rows + round * (rounds.ctas * rows);
    const Fragment values = machine.fragment(rows, cols, task.type, Layout::element_per_thread, {});
    machine.part(kRound);
    GlobalTile source{tensor.source, block_index(2), first, 0, rows, cols, OutOfRange::leave};
    if (tensor.transposed) {
      std::swap(source.row, source.col);
      source.transposed = true;
    }
    machine.load(values, source);
    machine.store({tensor.target, block_index(2), first, 0, rows, cols, OutOfRange::leave}, values);
  });
}

}  // namespace

LaunchPlan concatenate_launch(const ConcatenateTask& task, const GpuLimits& limits) {
  Rounds rounds{kThreads / task.cols, ceil_div(kCtasPerSm * limits.sm_count, task.segments)};
  // Rounds step over whole sectors of a transposed source.
  const std::int64_t step = kSectorElements / std::gcd(kSectorElements, rounds.rows_per_round);
  rounds.ctas = ceil_div(rounds.ctas, step) * step;
  LaunchPlan launch;
  launch.name = "CatArrayBatchedCopy";
  launch.grid = grid_of(rounds.ctas, static_cast<std::int64_t>(task.tensors.size()), task.segments);
  launch.warps = kWarps;
  launch.registers_per_thread = kRegisters;
  launch.build = concatenation_figures();
  for (const ConcatenatedTensor& tensor : task.tensors) {
    const auto program = static_cast<int>(launch.programs.size());
    launch.programs.push_back({tensor.transposed ? "transposed" : "rows", [=](CtaMachine& machine) {
                                 copy_rows(machine, task, tensor, rounds);
                               }});
    launch.class_of_block[1].push_back(static_cast<std::uint32_t>(launch.classes.size()));
    for (std::int64_t cta = 0; cta < rounds.ctas; ++cta) {
      launch.classes.push_back({program, {rounds.trips(tensor.rows, cta)}, {}});
    }
  }
  launch.class_of_block[0].resize(static_cast<std::size_t>(rounds.ctas));
  std::iota(launch.class_of_block[0].begin(), launch.class_of_block[0].end(), 0U);
  return launch;
}

}  // namespace warpscope::kernels::standard
