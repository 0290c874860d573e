// Tile sizes of the FlashAttention-2 forward kernels.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"

namespace warpscope::kernels::fa2 {

/// One instantiation of the forward kernel.
struct ForwardTile {
  int head_dim = 0;  ///< of the instantiation: the problem's, rounded up
  int rows = 0;      ///< queries per CTA (kBlockM)
  int keys = 0;      ///< keys per step (kBlockN)
  int warps = 0;
  int registers = 0;  ///< per thread, as compiled (ptxas 13)

  bool operator==(const ForwardTile&) const = default;

  /// Q, K and V tile, each once.
  std::uint32_t shared_bytes() const { return static_cast<std::uint32_t>(2 * head_dim * (rows + 2 * keys)); }
};

/// The instantiation that the launch code picks. Throws UnsupportedProblem where there is none.
ForwardTile forward_tile(const Problem& problem, const GpuLimits& limits);

}  // namespace warpscope::kernels::fa2
