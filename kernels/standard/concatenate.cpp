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
constexpr int kCtasPerSm = 2;             // of a tensor: getCatGrid of Shape.cu, and measured
constexpr std::uint32_t kRegisters = 25;  // measured

// A group is so many rounds that all of a transposed matrix' sectors (16 elements) that the first of them
// reads are read by the end of the last: CTAs are given groups.
constexpr int kRoundsOfGroup = 16;

/// Trip counts and symbols of a CTA: groups that are left of its first matrix, whole matrices and the groups
/// of these, groups of its last matrix.
enum Slot : int { kFirst, kMatrices, kGroups, kLast, kRounds };
enum Symbol : int { kFirstMatrix, kFirstGroup, kWholeMatrix, kLastMatrix };

/// A round is so many rows of one matrix.
int rows_of_round(const ConcatenateTask& task) {
  return static_cast<int>(kThreads / task.cols);
}

void copy_rows(CtaMachine& machine, const ConcatenateTask& task, const ConcatenatedTensor& tensor) {
  const int rows = rows_of_round(task);
  const auto cols = static_cast<int>(task.cols);
  const auto copy_group = [&](const Affine& matrix, const Affine& group) {
    machine.loop(kRounds, [&](const Affine& i) {
      const Affine first = group * (kRoundsOfGroup * rows) + i * rows;
      const Fragment values = machine.fragment(rows, cols, task.type, Layout::element_per_thread, {});
      machine.part(kRound);
      GlobalTile source{tensor.source, matrix, first, 0, rows, cols, OutOfRange::leave};
      if (tensor.transposed) {
        std::swap(source.row, source.col);
        source.transposed = true;
      }
      machine.load(values, source);
      machine.store({tensor.target, matrix, first, 0, rows, cols, OutOfRange::leave}, values);
    });
  };
  machine.loop(kFirst, [&](const Affine& group) {
    copy_group(class_symbol(kFirstMatrix), class_symbol(kFirstGroup) + group);
  });
  machine.loop(kMatrices, [&](const Affine& matrix) {
    machine.loop(kGroups,
                 [&](const Affine& group) { copy_group(class_symbol(kWholeMatrix) + matrix, group); });
  });
  machine.loop(kLast, [&](const Affine& group) { copy_group(class_symbol(kLastMatrix), group); });
}

/// The CTA that goes through groups `first` to `last` of a tensor whose matrices have `per_matrix`.
PlanClass class_of(int program, std::int64_t first, std::int64_t last, std::int64_t per_matrix) {
  const std::int64_t first_matrix = first / per_matrix;
  const std::int64_t ahead = std::min(last, (first_matrix + 1) * per_matrix) - first;
  const std::int64_t whole = (last - first - ahead) / per_matrix;
  const auto count = [](std::int64_t trips) { return static_cast<std::uint32_t>(trips); };
  return {program,
          {count(ahead), count(whole), count(per_matrix), count(last - first - ahead - whole * per_matrix),
           kRoundsOfGroup},
          {first_matrix, first % per_matrix, first_matrix + 1, first_matrix + 1 + whole}};
}

}  // namespace

LaunchPlan concatenate_launch(const ConcatenateTask& task, int sms) {
  const int rows = rows_of_round(task);
  LaunchPlan launch;
  launch.name = "CatArrayBatchedCopy";
  launch.warps = kWarps;
  launch.registers_per_thread = kRegisters;
  launch.build = concatenation_figures();
  const std::int64_t ctas = std::int64_t{kCtasPerSm} * sms;
  for (std::int64_t x = 0; x < ctas; ++x) {
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(x));
  }
  for (const ConcatenatedTensor& tensor : task.tensors) {
    launch.class_of_block[1].push_back(static_cast<std::uint32_t>(launch.classes.size()));
    const std::int64_t per_matrix = ceil_div(tensor.rows, std::int64_t{kRoundsOfGroup} * rows);
    const std::int64_t groups = task.segments * per_matrix;
    const auto program = static_cast<int>(launch.programs.size());
    for (std::int64_t x = 0; x < ctas; ++x) {
      launch.classes.push_back(class_of(program, x * groups / ctas, (x + 1) * groups / ctas, per_matrix));
    }
    launch.programs.push_back(
        {fmt::format("tensor {}", program), [=](CtaMachine& machine) { copy_rows(machine, task, tensor); }});
  }
  launch.grid = grid_of(ctas, static_cast<std::int64_t>(task.tensors.size()), 1);
  return launch;
}

}  // namespace warpscope::kernels::standard
