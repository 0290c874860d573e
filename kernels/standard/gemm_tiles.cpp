#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "kernels/standard/gemm.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels::standard {
namespace {

/// Tiles after the names that cuBLAS 11 and 12 kernels carry on A100 (ampere_*_s16816gemm_*_128x128_*_32x5
/// and so on), which cuBLAS 13 has too, as cutlass_80_tensorop_*_s16816gemm_*_128x128_32x5 and so on; warps
/// as CUTLASS splits such tiles. Registers as measured there, but for the third, which is an estimate. On
/// Hopper the library picks wgmma kernels instead (wgmma_tiles.cpp).
constexpr std::array kTiles = {
    GemmTile{128, 128, 32, 5, 2, 2, 220},
    GemmTile{128, 64, 32, 6, 2, 2, 146},
    GemmTile{64, 64, 64, 5, 2, 2, 104},
    GemmTile{64, 128, 32, 6, 2, 2, 140},
};

}  // namespace

int shared_bytes(const GemmTile& tile) {
  const int operands = tile.stages * (tile.m + tile.n) * tile.k * element_bytes(ElementType::fp16);
  return std::max(operands, tile.m * tile.n * element_bytes(ElementType::fp32));
}

const GemmTile& choose_gemm_tile(std::int64_t m, std::int64_t n, const GpuLimits& limits, bool a_transposed) {
  const GemmTile& few_rows = a_transposed && n > kTiles[2].n ? kTiles[3] : kTiles[2];
  const GemmTile& tile = m <= few_rows.m ? few_rows : n <= kTiles[1].n ? kTiles[1] : kTiles[0];
  if (limits.shared_bytes_per_cta != 0 && shared_bytes(tile) > limits.shared_bytes_per_cta) {
    throw UnsupportedProblem(
        fmt::format("the GEMM tile needs {} bytes of shared memory per CTA, the GPU has {}",
                    shared_bytes(tile), limits.shared_bytes_per_cta));
  }
  return tile;
}

}  // namespace warpscope::kernels::standard
