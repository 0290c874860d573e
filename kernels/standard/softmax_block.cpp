#include <algorithm>
#include <limits>
#include <map>

#include "kernels/standard/build_figures.hpp"
#include "kernels/standard/cta_reduction.hpp"
#include "kernels/standard/grid.hpp"
#include "kernels/standard/softmax.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr int kLanes = 32;
constexpr int kMaxThreads = 1024;
constexpr int kSharedLimit = 48 * 1024;  // what a launch may use without asking for more
constexpr int kRowSlot = 0;
constexpr int kDivisionSlot = 1;

class BlockSoftmax {
 public:
  explicit BlockSoftmax(const SoftmaxTask& task)
      : task_(task),
        piece_(16 / element_bytes(task.type)),
        warps_(
            (task.row_cache ? forward_softmax_threads(task.cols) : block_softmax_threads(task.cols, piece_)) /
            kLanes),
        chunk_(warps_ * kLanes * piece_),
        chunks_(static_cast<int>(ceil_div(task.cols, chunk_))),
        row_{0, 1, chunk_, task.type, chunks_, 0},
        cached_(task.row_cache &&
                row_.bytes_per_stage() * chunks_ + warps_ * element_bytes(ElementType::fp32) <= kSharedLimit),
        parts_(reduction_parts(cached_ ? row_.bytes_per_stage() * chunks_ : 0,
                               task.row_cache ? warps_ : warps_ * kLanes)) {}

  /// The row stays in shared memory; else every pass reads it again.
  bool cached() const { return cached_; }
  int warps() const { return warps_; }
  int piece() const { return piece_; }
  int shared_bytes() const {
    return parts_.byte_offset + (task_.row_cache ? reduction_bytes(parts_) : parts_.bytes_per_stage());
  }
  /// Whole chunks; a ragged last one follows the loop.
  int loop_trips() const { return static_cast<int>(task_.cols / chunk_); }

  void run(CtaMachine& machine) const {
    const Fragment like = values(machine);
    const RowVector maximum = machine.row_vector(like);
    const RowVector sum = machine.row_vector(like);
    machine.fill(maximum, std::numeric_limits<float>::lowest());
    machine.fill(sum, 0.0F);
    for_chunks(machine, [&](const Affine& chunk) {
      const Fragment stored = machine.fragment(1, chunk_, task_.type, Layout::row_per_cta, split());
      machine.load(stored, tile(task_.source, chunk));
      if (cached_) {
        machine.store_shared(stage(row_, chunk), stored);
      }
      machine.reduce_rows(maximum, Reduce::max, converted(machine, stored, chunk), true);
    });
    reduce(machine, maximum, Reduce::max);
    for_chunks(machine, [&](const Affine& chunk) {
      machine.reduce_rows(sum, Reduce::sum, exponentials(machine, chunk, maximum), true);
    });
    reduce(machine, sum, Reduce::sum);
    for_chunks(machine, [&](const Affine& chunk) {
      const Fragment x = exponentials(machine, chunk, maximum);
      const Fragment stored = machine.fragment(1, chunk_, task_.type, Layout::row_per_cta, split());
      machine.apply(x, BinaryOp::divide, x, sum);
      machine.convert(stored, x);
      machine.store(tile(task_.target, chunk), stored);
    });
    if (task_.causal) {
      machine.loop(kDivisionSlot, [&](const Affine&) { machine.part(kDivisionSubroutine); });
    }
  }

 private:
  WarpSplit split() const { return {1, warps_, 1}; }
  Fragment values(CtaMachine& machine) const {
    return machine.fragment(1, chunk_, ElementType::fp32, Layout::row_per_cta, split());
  }
  GlobalTile tile(int tensor, const Affine& chunk) const {
    return {tensor, block_index(1), block_index(0), chunk * chunk_, 1, chunk_};
  }

  void for_chunks(CtaMachine& machine, const std::function<void(const Affine&)>& body) const {
    const auto counted = [&](const Affine& chunk) {
      machine.part(kRound);
      body(chunk);
    };
    machine.part(kPass);
    if (loop_trips() > 0) {
      machine.loop(kRowSlot, counted);
    }
    if (loop_trips() < chunks_) {
      counted(loop_trips());
    }
  }

  Fragment converted(CtaMachine& machine, const Fragment& stored, const Affine& chunk) const {
    const Fragment x = values(machine);
    machine.convert(x, stored);
    if (chunk == Affine(loop_trips())) {
      machine.mask(x, Mask{0, chunk * chunk_, task_.cols, false, 0});
    }
    return x;
  }

  Fragment exponentials(CtaMachine& machine, const Affine& chunk, const RowVector& maximum) const {
    const Fragment stored = machine.fragment(1, chunk_, task_.type, Layout::row_per_cta, split());
    if (cached_) {
      machine.load_shared(stored, stage(row_, chunk));
    } else {
      machine.load(stored, tile(task_.source, chunk));
    }
    const Fragment x = converted(machine, stored, chunk);
    machine.apply(x, BinaryOp::subtract, x, maximum);
    machine.apply(x, UnaryOp::exp, x);
    return x;
  }

  void reduce(CtaMachine& machine, const RowVector& value, Reduce op) const {
    if (task_.row_cache) {
      reduce_over_cta(machine, value, parts_, op);
    } else {
      machine.reduce_over_threads(value, parts_, op);
    }
  }

  SoftmaxTask task_;
  int piece_;
  int warps_;
  int chunk_;
  int chunks_;
  SharedTile row_;
  bool cached_;
  SharedTile parts_;
};

}  // namespace

int forward_softmax_threads(std::int64_t columns) {
  return static_cast<int>(ceil_div(std::min<std::int64_t>(columns, kMaxThreads), kLanes)) * kLanes;
}

int block_softmax_threads(std::int64_t columns, int piece) {
  int threads = 1;
  while (threads < std::min<std::int64_t>(columns / piece, kMaxThreads) / 2 && threads < kMaxThreads) {
    threads *= 2;
  }
  return std::max(threads, kLanes);
}

LaunchPlan block_softmax_launch(const SoftmaxTask& task) {
  const BlockSoftmax program(task);
  LaunchPlan launch;
  launch.name = program.cached() ? "cunn_SoftMaxForwardSmem" : "cunn_SoftMaxForward";
  launch.grid = grid_of(task.rows, task.segments, 1);
  launch.warps = program.warps();
  if (task.row_cache) {
    launch.role_warps = reduction_roles(program.warps());
  }
  // With the row in shared memory measured; without, what both CUDA 11.8 for sm_80 and CUDA 13 for sm_90 give
  // the kernel of 2023 (experiments/reference/machine-code/pytorch_2023.csv).
  launch.registers_per_thread = program.cached() ? 32 : 38;
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(program.shared_bytes());
  launch.build = block_softmax_figures(program.piece(), program.cached());
  launch.programs.push_back({"row", [program](CtaMachine& machine) { program.run(machine); }});
  std::map<std::int64_t, std::uint32_t> class_of_calls;
  for (std::int64_t row = 0; row < task.rows; ++row) {
    // A warp divides the `piece` elements of its lanes by as many instructions; its spans are every warps-th.
    const std::int64_t spans = masked_spans(task, row, kLanes * program.piece());
    const std::int64_t calls = (spans * program.piece() + program.warps() / 2) / program.warps();
    const auto [found, added] =
        class_of_calls.try_emplace(calls, static_cast<std::uint32_t>(launch.classes.size()));
    if (added) {
      launch.classes.push_back(
          {0, {static_cast<std::uint32_t>(program.loop_trips()), static_cast<std::uint32_t>(calls)}, {}});
    }
    if (task.causal) {
      launch.class_of_block[0].push_back(found->second);
    }
  }
  return launch;
}

}  // namespace warpscope::kernels::standard
