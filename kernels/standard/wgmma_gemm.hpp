// Batched matrix product as the vendor's library runs it on Hopper: a persistent kernel whose first warp
// fetches boxes for two warpgroups that multiply.
#pragma once

#include <optional>

#include "kernels/standard/gemm.hpp"

namespace warpscope::kernels::standard {

/// One tile kernel of the library, named there nvjet_sm90_*_<m>x<n>_64x<stages>_*.
struct WgmmaTile {
  int m;       ///< rows of C of a tile, 64 or 128 for each warpgroup
  int n;       ///< columns
  int stages;  ///< steps of 64 columns of A that have room in shared memory
  int groups;  ///< warpgroups that share the rows
};

/// The tile for a product, or nothing where the GPU has no wgmma or no tile fits: tiles divide columns of C,
/// and of A where it is transposed, and steps its depth. The library's own choice is not published: this one
/// takes the fewest cycles as its waves, products and copies alone would have it.
std::optional<WgmmaTile> choose_wgmma_tile(const GemmTask& task, const GpuLimits& limits);
/// Shared memory of a CTA in bytes.
int shared_bytes(const WgmmaTile& tile);

/// As many CTAs as SMs, in clusters of two that fetch what both need half each. The half that comes from the
/// neighbour is taken to arrive with the own one.
LaunchPlan wgmma_gemm_launch(const GemmTask& task, const WgmmaTile& tile, const GpuLimits& limits);

}  // namespace warpscope::kernels::standard
