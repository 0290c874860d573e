#include <cstdint>
#include <functional>

#include "kernels/standard/build_figures.hpp"
#include "kernels/standard/grid.hpp"
#include "kernels/standard/softmax.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr int kLanes = 32;
constexpr int kSharedLimit = 48 * 1024;  // what a launch may use without asking for more
constexpr int kRowSlot = 0;

class BlockSoftmaxBackward {
 public:
  explicit BlockSoftmaxBackward(const SoftmaxBackwardTask& task)
      : task_(task),
        piece_(16 / element_bytes(task.type)),
        warps_(block_softmax_threads(task.cols, piece_) / kLanes),
        chunk_(warps_ * kLanes * piece_),
        chunks_(static_cast<int>(ceil_div(task.cols, chunk_))),
        row_{0, 1, chunk_, task.type, chunks_, 0},
        cached_(task.row_cache && task.cols % piece_ == 0 &&
                row_.bytes_per_stage() * chunks_ + warps_ * element_bytes(ElementType::fp32) <= kSharedLimit),
        parts_{cached_ ? row_.bytes_per_stage() * chunks_ : 0,
               cached_ ? warps_ : warps_ * kLanes,
               1,
               ElementType::fp32,
               1,
               0} {}

  bool cached() const { return cached_; }
  int warps() const { return warps_; }
  int shared_bytes() const { return parts_.byte_offset + parts_.bytes_per_stage(); }
  /// Whole chunks; a ragged last one follows the loop.
  int loop_trips() const { return static_cast<int>(task_.cols / chunk_); }

  void run(CtaMachine& machine) const {
    const RowVector sum = machine.row_vector(values(machine, ElementType::fp32));
    machine.fill(sum, 0.0F);
    for_chunks(machine, 0, [&](const Affine& chunk) {
      const Fragment stored = values(machine, task_.type);
      machine.load(stored, tile(task_.source, chunk));
      if (cached_) {
        machine.store_shared(stage(row_, chunk), stored);
      }
      machine.reduce_rows(sum, Reduce::sum, widened(machine, stored), true);
    });
    reduce_over_cta(machine, sum);
    machine.apply(sum, BinaryOp::multiply, sum, -1.0F);
    for_chunks(machine, 1, [&](const Affine& chunk) {
      const Fragment output = values(machine, task_.type);
      const Fragment stored = values(machine, task_.type);
      machine.load(output, tile(task_.output, chunk));
      if (cached_) {
        machine.load_shared(stored, stage(row_, chunk));
      } else {
        machine.load(stored, tile(task_.source, chunk));
      }
      const Fragment x = widened(machine, stored);
      machine.multiply_add(x, widened(machine, output), sum, x);
      machine.convert(stored, x);
      machine.store(tile(task_.target, chunk), stored);
    });
  }

 private:
  Fragment values(CtaMachine& machine, ElementType type) const {
    return machine.fragment(1, chunk_, type, Layout::row_per_cta, {1, warps_, 1});
  }
  Fragment widened(CtaMachine& machine, const Fragment& stored) const {
    const Fragment x = values(machine, ElementType::fp32);
    machine.convert(x, stored);
    return x;
  }
  GlobalTile tile(int tensor, const Affine& chunk) const {
    return {tensor, block_index(1), block_index(0), chunk * chunk_, 1, chunk_};
  }

  /// What lies beyond the row reads as zero, which changes no sum.
  void for_chunks(CtaMachine& machine, int pass, const std::function<void(const Affine&)>& body) const {
    const auto counted = [&](const Affine& chunk) {
      machine.part(kRound, pass);
      body(chunk);
    };
    machine.part(kPass, pass);
    if (loop_trips() > 0) {
      machine.loop(kRowSlot, counted);
    }
    if (loop_trips() < chunks_) {
      counted(loop_trips());
    }
  }

  void reduce_over_cta(CtaMachine& machine, const RowVector& sum) const {
    if (!cached_) {
      machine.reduce_over_threads(sum, parts_, Reduce::sum);
      return;
    }
    machine.finish_rows(sum, Reduce::sum);
    machine.store_parts(parts_, sum);
    machine.barrier();
    machine.load_reduced(sum, parts_, warps_, Reduce::sum);
  }

  SoftmaxBackwardTask task_;
  int piece_;
  int warps_;
  int chunk_;
  int chunks_;
  SharedTile row_;
  bool cached_;
  SharedTile parts_;
};

}  // namespace

LaunchPlan block_softmax_backward_launch(const SoftmaxBackwardTask& task) {
  const BlockSoftmaxBackward program(task);
  LaunchPlan launch;
  launch.name = program.cached() ? "cunn_SoftMaxBackwardSmem" : "cunn_SoftMaxBackward";
  launch.grid = grid_of(task.rows, task.segments, 1);
  launch.warps = program.warps();
  launch.registers_per_thread = program.cached() ? 32 : 40;  // measured
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(program.shared_bytes());
  launch.build = block_softmax_backward_figures(program.cached());
  launch.programs.push_back({"row", [program](CtaMachine& machine) { program.run(machine); }});
  launch.classes.push_back({0, {static_cast<std::uint32_t>(program.loop_trips())}, {}});
  return launch;
}

}  // namespace warpscope::kernels::standard
