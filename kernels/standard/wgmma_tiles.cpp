#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/standard/grid.hpp"
#include "kernels/standard/wgmma_gemm.hpp"

namespace warpscope::kernels::standard {
namespace {

/// After the names that cuBLAS 13 kernels carry on an H200 (nvjet_sm90_hsh_256x128_64x4 and so on; the
/// first is its 320x128, whose products have 64 columns). It has more, such as 192x192 and 80x128.
constexpr std::array kTiles = {
    WgmmaTile{128, 320, 3, 2}, WgmmaTile{256, 128, 4, 2}, WgmmaTile{128, 128, 6, 2},
    WgmmaTile{256, 64, 5, 2},  WgmmaTile{128, 64, 8, 2},  WgmmaTile{64, 64, 13, 1},
};
constexpr std::int64_t kDepth = 64;
constexpr std::int64_t kElementsPerCycle = 32;  // of C by 64 of depth: 2048 multiply-adds
/// What an SM draws from the L2 where all do (H200: 4340 for 132), and a step copies of one row or column.
constexpr std::int64_t kBytesPerCycle = 32;
constexpr std::int64_t kBytesPerLine = 2 * kDepth;

bool fits(const WgmmaTile& tile, const GemmTask& task, const GpuLimits& limits) {
  const bool rows = !task.a_transposed || task.m % tile.m == 0;
  const bool room = limits.shared_bytes_per_cta == 0 || shared_bytes(tile) <= limits.shared_bytes_per_cta;
  return rows && room && task.n % tile.n == 0 && task.k % kDepth == 0;
}

/// Cycles of a step times waves; of a cluster's two CTAs each copies half of the larger operand.
std::int64_t cost(const WgmmaTile& tile, const GemmTask& task, const GpuLimits& limits) {
  const std::int64_t tiles = ceil_div(task.m, tile.m) * (task.n / tile.n) * task.batch;
  const std::int64_t copies =
      (tile.m + tile.n - std::max(tile.m, tile.n) / 2) * kBytesPerLine / kBytesPerCycle;
  return ceil_div(tiles, limits.sm_count) *
         std::max<std::int64_t>(tile.m * tile.n / kElementsPerCycle, copies);
}

}  // namespace

std::optional<WgmmaTile> choose_wgmma_tile(const GemmTask& task, const GpuLimits& limits) {
  std::optional<WgmmaTile> best;
  for (const WgmmaTile& tile : kTiles) {
    const bool possible = limits.compute_capability_major == 9 && fits(tile, task, limits);
    if (possible && (!best || cost(tile, task, limits) < cost(*best, task, limits))) {
      best = tile;
    }
  }
  return best;
}

LaunchPlan library_gemm_launch(GemmTask task, const GpuLimits& limits) {
  if (const std::optional<WgmmaTile> tile = choose_wgmma_tile(task, limits)) {
    task.name += fmt::format("_{}x{}_{}x{}_wgmma", tile->m, tile->n, kDepth, tile->stages);
    return wgmma_gemm_launch(task, *tile, limits);
  }
  const GemmTile& tile = choose_gemm_tile(task.m, task.n, limits, task.a_transposed);
  task.name += fmt::format("_{}x{}_{}x{}", tile.m, tile.n, tile.k, tile.stages);
  return gemm_launch(task, tile);
}

}  // namespace warpscope::kernels::standard
