#include "kernels/fa2/backward_tile_table.hpp"

#include <array>
#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa2 {
namespace {

struct Row {
  BackwardTile tile;
  int kilobytes;  ///< of shared memory that a CTA must be allowed to have
};

// Dao-AILab/flash-attention 0251105a, csrc/flash_attn/src/flash_bwd_launch_template.h, lines 135-306, without
// dropout; the first row of the head dimension whose condition holds counts.
constexpr std::array kRows = {
    Row{{32, 128, 128, 4, 4, 4, true, true}, 0},    Row{{64, 128, 128, 4, 4, 4, false, true}, 144},
    Row{{64, 64, 128, 2, 4, 4, true, true}, 0},     Row{{96, 64, 128, 2, 4, 4, true, true}, 0},
    Row{{128, 64, 128, 2, 4, 2, false, true}, 144}, Row{{128, 64, 64, 4, 2, 2, true, true}, 0},
    Row{{192, 64, 64, 4, 2, 2, false, true}, 136},  Row{{192, 64, 64, 4, 2, 2, true, false}, 0},
    Row{{256, 64, 64, 4, 2, 2, false, true}, 176},  Row{{256, 64, 64, 4, 2, 2, false, false}, 144},
    Row{{256, 64, 32, 4, 1, 2, true, false}, 0},
};

}  // namespace

BackwardTile backward_tile(const Problem& problem, const GpuLimits& limits) {
  int head_dim = 0;
  for (const auto& [tile, kilobytes] : kRows) {
    if (tile.head_dim < problem.head_dim || (head_dim != 0 && tile.head_dim != head_dim)) {
      continue;
    }
    head_dim = tile.head_dim;
    if (limits.shared_bytes_per_cta < std::int64_t{kilobytes} * 1024) {
      continue;
    }
    if (tile.shared_bytes() > limits.shared_bytes_per_cta) {
      throw UnsupportedProblem("fa2 backward at head_dim " + std::to_string(head_dim) + " needs " +
                               std::to_string(tile.shared_bytes()) +
                               " bytes of shared memory per CTA; this GPU has " +
                               std::to_string(limits.shared_bytes_per_cta));
    }
    return tile;
  }
  throw UnsupportedProblem("fa2 supports head_dim up to 256, not " + std::to_string(problem.head_dim));
}

}  // namespace warpscope::kernels::fa2
