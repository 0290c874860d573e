#include "kernels/standard/gemm.hpp"

#include <algorithm>
#include <array>

#include "kernels/standard/build_figures.hpp"
#include "kernels/standard/grid.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr int kSliceRows = 16;  // of C: 8 of each of two rows of warps

/// The CTA program. Loads run stages - 1 steps ahead of the products; one barrier per step frees the oldest
/// stage and shows the newest.
class GemmProgram {
 public:
  /// `first_row` and `first_column` are the CTA's in C; constants for the CTAs at a ragged edge of what is
  /// stored in columns.
  GemmProgram(const GemmTask& task, const GemmTile& tile, const Affine& first_row, const Affine& first_column)
      : task_(task),
        tile_(tile),
        first_row_(first_row),
        first_column_(first_column),
        a_ring_{0,
                task.a_transposed ? tile.k : tile.m,
                task.a_transposed ? tile.m : tile.k,
                task.type,
                tile.stages,
                0},
        b_ring_{a_ring_.bytes_per_stage() * tile.stages,
                task.b_transposed ? tile.n : tile.k,
                task.b_transposed ? tile.k : tile.n,
                task.type,
                tile.stages,
                0},
        steps_(static_cast<int>(ceil_div(task.k, tile.k))),
        ahead_(std::min(tile.stages - 1, steps_)) {}

  /// Steps that the loop copies: all that are left after the prologue, without a ragged last one, whose
  /// columns must be a constant.
  int loop_trips() const {
    const int copied = steps_ - ahead_;
    return copied > 0 && task_.k % tile_.k != 0 ? copied - 1 : copied;
  }

  void run(CtaMachine& machine) const {
    const WarpSplit split{tile_.warps_m, tile_.warps_n, 1};
    const Fragment sums = machine.fragment(tile_.m, tile_.n, ElementType::fp32, Layout::accumulator, split);
    machine.fill(sums, 0.0F);
    machine.part(kSetup);
    for (int step = 0; step < ahead_; ++step) {
      copy(machine, step);
    }
    if (loop_trips() > 0) {
      machine.loop(0, [&](const Affine& step) { copy_and_multiply(machine, sums, step); });
    }
    for (int step = loop_trips(); step < steps_ - ahead_; ++step) {
      copy_and_multiply(machine, sums, step);
    }
    for (int pending = ahead_ - 1; pending >= 0; --pending) {
      machine.wait_copies(pending);
      machine.barrier();
      multiply(machine, sums, steps_ - 1 - pending);
    }
    write_back(machine, sums);
  }

 private:
  void copy_and_multiply(CtaMachine& machine, const Fragment& sums, const Affine& step) const {
    machine.wait_copies(ahead_ - 1);
    machine.barrier();
    copy(machine, step + ahead_);
    multiply(machine, sums, step);
  }

  void copy(CtaMachine& machine, const Affine& step) const {
    const Affine k = step * tile_.k;
    machine.copy_async(stage(a_ring_, step),
                       task_.a_transposed
                           ? GlobalTile{task_.a, block_index(2), k, first_row_, tile_.k, tile_.m}
                           : GlobalTile{task_.a, block_index(2), first_row_, k, tile_.m, tile_.k});
    machine.copy_async(stage(b_ring_, step),
                       task_.b_transposed
                           ? GlobalTile{task_.b, block_index(2), first_column_, k, tile_.n, tile_.k}
                           : GlobalTile{task_.b, block_index(2), k, first_column_, tile_.k, tile_.n});
    machine.commit_copies();
  }

  void multiply(CtaMachine& machine, const Fragment& sums, const Affine& step) const {
    const MmaOperand a(stage(a_ring_, step));
    const MmaOperand b(stage(b_ring_, step));
    machine.mma(sums, task_.a_transposed ? transposed(a) : a, task_.b_transposed ? transposed(b) : b);
  }

  /// Stores C through shared memory, as sums, so that whole lines leave the SM; it leaves in slices of 16
  /// rows, scaled and rounded on the way, with two barriers each, as in CUTLASS. There a slice comes in right
  /// before it leaves; here all of C comes in first.
  void write_back(CtaMachine& machine, const Fragment& sums) const {
    const int slice_bytes = kSliceRows * tile_.n * element_bytes(ElementType::fp32);
    machine.barrier();
    machine.store_shared(SharedTile{0, tile_.m, tile_.n, ElementType::fp32, 1, 0}, sums);
    for (int slice = 0; slice < tile_.m / kSliceRows; ++slice) {
      const Fragment rows = machine.fragment(kSliceRows, tile_.n, ElementType::fp32, Layout::linear, {});
      const Fragment rounded = machine.fragment(kSliceRows, tile_.n, task_.type, Layout::linear, {});
      machine.barrier();
      machine.load_shared(rows, {slice * slice_bytes, kSliceRows, tile_.n, ElementType::fp32, 1, 0});
      machine.part(kSlice);
      machine.apply(rows, BinaryOp::multiply, rows, task_.alpha);
      machine.convert(rounded, rows);
      machine.store(
          {task_.c, block_index(2), first_row_ + slice * kSliceRows, first_column_, kSliceRows, tile_.n},
          rounded);
      machine.barrier();
    }
  }

  GemmTask task_;
  GemmTile tile_;
  Affine first_row_;
  Affine first_column_;
  SharedTile a_ring_;
  SharedTile b_ring_;
  int steps_;
  int ahead_;
};

}  // namespace

LaunchPlan gemm_launch(const GemmTask& task, const GemmTile& tile) {
  const std::int64_t columns = ceil_div(task.n, tile.n);
  const std::int64_t rows = ceil_div(task.m, tile.m);
  LaunchPlan launch;
  launch.name = task.name;
  launch.grid = grid_of(columns, rows, task.batch);
  launch.warps = tile.warps_m * tile.warps_n;
  launch.registers_per_thread = static_cast<std::uint32_t>(tile.registers);
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(shared_bytes(tile));
  launch.build = gemm_figures(kSliceRows * tile.n / (32 * launch.warps));
  const auto add_programs = [&](const Affine& first_row, const char* name) {
    const std::size_t first_program = launch.programs.size();
    add_column_programs(launch, columns, task.n % tile.n != 0, tile.n, [&](const Affine& first_column) {
      const GemmProgram program(task, tile, first_row, first_column);
      return ColumnProgram{[program](CtaMachine& machine) { program.run(machine); },
                           {static_cast<std::uint32_t>(program.loop_trips())}};
    });
    for (std::size_t p = first_program; p < launch.programs.size(); ++p) {
      launch.programs[p].name += name;
    }
  };
  // Rows of C are columns of a transposed A.
  const bool ragged_rows = task.a_transposed && task.m % tile.m != 0;
  if (rows > 1 || !ragged_rows) {
    add_programs(block_index(1) * tile.m, "");
  }
  if (ragged_rows) {
    const auto whole = static_cast<std::uint32_t>(launch.classes.size());
    add_programs((rows - 1) * tile.m, "_last_rows");
    launch.class_of_block[1].assign(static_cast<std::size_t>(rows), 0);
    launch.class_of_block[1].back() = whole;
  }
  return launch;
}

}  // namespace warpscope::kernels::standard
