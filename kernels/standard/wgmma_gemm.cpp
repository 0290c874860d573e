#include "kernels/standard/wgmma_gemm.hpp"

#include <algorithm>

#include "kernels/standard/tile_walk.hpp"

namespace warpscope::kernels::standard {
namespace {

constexpr int kDepth = 64;         // columns of A in a step
constexpr int kPieceColumns = 16;  // of C that leave at a time
constexpr int kPieces = 2;         // that have room in shared memory
constexpr int kProducerWarps = 4;  // of which one works
constexpr int kGroupWarps = 4;
constexpr int kElement = 2;      // bytes
constexpr int kRegisters = 168;  // per thread, of all nvjet kernels that were measured
constexpr unsigned kProducer = 1U << 0;
constexpr unsigned kLeader = 1U << 2;  // the warp that stores; role 1 is idle
constexpr unsigned kConsumers = kLeader | 1U << 3;
enum Ring : int { kFull, kEmpty, kStored };
enum Slot : int { kTiles, kFurtherSteps };

/// The program of all CTAs.
class WgmmaGemmProgram {
 public:
  WgmmaGemmProgram(const GemmTask& task, const WgmmaTile& tile, const TileWalk& walk)
      : task_(task), tile_(tile), walk_(walk), steps_(static_cast<int>(task.k / kDepth)) {
    const bool at = task.a_transposed;
    const bool bt = task.b_transposed;
    a_ring_ = {0, at ? kDepth : tile.m, at ? tile.m : kDepth, task.type, tile.stages, 0};
    b_ring_ = {a_ring_.bytes_per_stage() * tile.stages,
               bt ? tile.n : kDepth,
               bt ? kDepth : tile.n,
               task.type,
               tile.stages,
               0};
    c_ring_ = {b_ring_.byte_offset + b_ring_.bytes_per_stage() * tile.stages,
               tile.m,
               kPieceColumns,
               task.type,
               kPieces,
               0};
  }

  void run(CtaMachine& machine) const {
    machine.role(kProducer | kConsumers, [&] {
      machine.loop(kTiles, [&](const Affine& tile) { multiply_tile(machine, tile); });
      machine.role(kLeader, [&] {
        for (int piece = 0; piece < kPieces; ++piece) {
          machine.wait(kStored);
        }
      });
    });
  }

  std::uint32_t bytes_per_step() const {
    return static_cast<std::uint32_t>(a_ring_.bytes_per_stage() / walk_.sharers_of_a() +
                                      b_ring_.bytes_per_stage() / walk_.sharers_of_b());
  }
  std::uint32_t bytes_per_piece() const { return static_cast<std::uint32_t>(c_ring_.bytes_per_stage()); }

 private:
  void multiply_tile(CtaMachine& machine, const Affine& tile) const {
    const Fragment sums = machine.fragment(tile_.m, tile_.n, ElementType::fp32, Layout::accumulator,
                                           {kGroupWarps * tile_.groups, 1, 1});
    machine.role(kConsumers, [&] { machine.fill(sums, 0.0F); });
    fetch(machine, tile, 0);
    multiply(machine, sums, tile * steps_);
    machine.loop(kFurtherSteps, [&](const Affine& before) {
      fetch(machine, tile, before + 1);
      multiply(machine, sums, tile * steps_ + before + 1);
      // The step before this one is done where one group is left.
      machine.role(kConsumers, [&] {
        machine.wait_mma(sums, 1);
        machine.arrive(kEmpty);
      });
    });
    machine.role(kConsumers, [&] {
      machine.wait_mma(sums, 0);
      machine.arrive(kEmpty);
      write_back(machine, tile, sums);
    });
  }

  void fetch(CtaMachine& machine, const Affine& tile, const Affine& step) const {
    const Affine k = step * kDepth;
    const Affine slot = tile * steps_ + step;
    const Affine row = walk_.row() * tile_.m;
    const Affine column = walk_.column() * tile_.n;
    machine.role(kProducer, [&] {
      machine.wait(kEmpty);
      machine.arrive(kFull);
      machine.copy_box(stage(a_ring_, slot),
                       task_.a_transposed ? GlobalTile{task_.a, walk_.segment(), k, row, kDepth, tile_.m}
                                          : GlobalTile{task_.a, walk_.segment(), row, k, tile_.m, kDepth},
                       kFull, walk_.sharers_of_a());
      machine.copy_box(stage(b_ring_, slot),
                       task_.b_transposed ? GlobalTile{task_.b, walk_.segment(), column, k, tile_.n, kDepth}
                                          : GlobalTile{task_.b, walk_.segment(), k, column, kDepth, tile_.n},
                       kFull, walk_.sharers_of_b());
    });
  }

  void multiply(CtaMachine& machine, const Fragment& sums, const Affine& slot) const {
    const MmaOperand a(stage(a_ring_, slot));
    const MmaOperand b(stage(b_ring_, slot));
    machine.role(kConsumers, [&] {
      machine.wait(kFull);
      machine.mma_async(sums, task_.a_transposed ? transposed(a) : a, task_.b_transposed ? transposed(b) : b);
    });
  }

  /// A few columns at a time go through shared memory; a copy stores one piece while the next comes in.
  void write_back(CtaMachine& machine, const Affine& tile, const Fragment& sums) const {
    const int pieces = tile_.n / kPieceColumns;
    const int warps = kGroupWarps * tile_.groups;
    for (int piece = 0; piece < pieces; ++piece) {
      const SharedTile place = stage(c_ring_, tile * pieces + piece);
      GlobalTile target{task_.c, walk_.segment(), 0, 0, tile_.m, kPieceColumns};
      target.number = walk_.number() * pieces + piece;
      target.numbered = true;
      machine.role(kLeader, [&] { machine.wait(kStored); });
      machine.barrier(1, warps);
      machine.store_matrix(place, sums, piece * kPieceColumns, task_.alpha);
      machine.barrier(2, warps);
      machine.role(kLeader, [&] {
        machine.arrive(kStored);
        machine.store_box(target, place, kStored);
      });
    }
  }

  GemmTask task_;
  WgmmaTile tile_;
  TileWalk walk_;
  int steps_;
  SharedTile a_ring_;
  SharedTile b_ring_;
  SharedTile c_ring_;
};

}  // namespace

int shared_bytes(const WgmmaTile& tile) {
  return kElement * (tile.stages * (tile.m + tile.n) * kDepth + kPieces * tile.m * kPieceColumns);
}

LaunchPlan wgmma_gemm_launch(const GemmTask& task, const WgmmaTile& tile, const GpuLimits& limits) {
  const TileWalk walk(task, tile, limits.sm_count);
  const WgmmaGemmProgram program(task, tile, walk);
  LaunchPlan launch;
  launch.name = task.name;
  launch.warps = kProducerWarps + kGroupWarps * tile.groups;
  launch.role_warps = {1, kProducerWarps - 1, 1, kGroupWarps * tile.groups - 1};
  launch.registers_per_thread = kRegisters;
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(shared_bytes(tile));
  const auto stages = static_cast<std::uint16_t>(tile.stages);
  const auto consumers = static_cast<std::uint16_t>(kGroupWarps * tile.groups);
  launch.mbarriers = {{stages, 1, program.bytes_per_step(), false},
                      {stages, consumers, 0, true},
                      {kPieces, 1, program.bytes_per_piece(), true}};
  launch.programs.push_back({"tiles", [program](CtaMachine& machine) { program.run(machine); }});
  walk.add_classes(launch, static_cast<std::uint32_t>(task.k / kDepth - 1));
  return launch;
}

}  // namespace warpscope::kernels::standard
