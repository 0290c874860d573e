#include "kernels/fa2/tile_table.hpp"

#include <array>
#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa2 {
namespace {

enum class Gpus : std::uint8_t { all, consumer, not_consumer, big_shared, not_big_shared };
enum class Masks : std::uint8_t { all, causal, full };
enum class Dropouts : std::uint8_t { all, none, some };

struct Row {
  ForwardTile tile;
  Gpus gpus;
  Masks masks;
  Dropouts dropouts;
};

// Dao-AILab/flash-attention 0251105a, csrc/flash_attn/src/flash_fwd_launch_template.h, lines 194-325; the
// first row that fits counts. Registers: ptxas 13.0, --use_fast_math; those at head dimension 192 with
// dropout, which was not compiled, are taken to be all there are.
constexpr std::array kRows = {
    Row{{32, 128, 128, 4, 255}, Gpus::all, Masks::all, Dropouts::all},
    Row{{64, 128, 128, 4, 255}, Gpus::all, Masks::all, Dropouts::none},
    Row{{64, 128, 64, 4, 255}, Gpus::all, Masks::all, Dropouts::some},
    Row{{96, 64, 64, 4, 166}, Gpus::consumer, Masks::causal, Dropouts::all},
    Row{{96, 128, 64, 4, 252}, Gpus::all, Masks::all, Dropouts::all},
    Row{{128, 128, 32, 4, 255}, Gpus::consumer, Masks::full, Dropouts::none},
    Row{{128, 64, 64, 4, 184}, Gpus::consumer, Masks::causal, Dropouts::none},
    Row{{128, 128, 64, 4, 255}, Gpus::not_consumer, Masks::all, Dropouts::none},
    Row{{128, 128, 32, 4, 255}, Gpus::all, Masks::all, Dropouts::some},
    Row{{192, 128, 64, 8, 227}, Gpus::all, Masks::all, Dropouts::none},
    Row{{192, 64, 64, 4, 255}, Gpus::all, Masks::all, Dropouts::some},
    Row{{256, 128, 64, 8, 254}, Gpus::big_shared, Masks::all, Dropouts::all},
    Row{{256, 64, 64, 4, 254}, Gpus::not_big_shared, Masks::all, Dropouts::all},
};

bool matches(Gpus gpus, const GpuLimits& limits) {
  // The launch code asks for compute capability 8.6 and 8.9 by minor > 0, and sends head dimension 256 to the
  // large tile only where two of the small one would not fit into an SM (A100).
  const bool consumer = limits.compute_capability_major == 8 && limits.compute_capability_minor > 0;
  const bool big_shared =
      limits.shared_bytes_per_cta >= 128 * 1024 && limits.shared_bytes_per_sm < 192 * 1024;
  switch (gpus) {
    case Gpus::all:
      return true;
    case Gpus::consumer:
      return consumer;
    case Gpus::not_consumer:
      return !consumer;
    case Gpus::big_shared:
      return big_shared;
    case Gpus::not_big_shared:
      return !big_shared;
  }
  return false;
}

}  // namespace

ForwardTile forward_tile(const Problem& problem, const GpuLimits& limits) {
  int head_dim = 0;
  for (const Row& row : kRows) {
    if (row.tile.head_dim < problem.head_dim || (head_dim != 0 && row.tile.head_dim != head_dim)) {
      continue;
    }
    head_dim = row.tile.head_dim;
    const bool mask_fits = row.masks == Masks::all || (row.masks == Masks::causal) == problem.causal;
    const bool dropout_fits =
        row.dropouts == Dropouts::all || (row.dropouts == Dropouts::some) == (problem.dropout > 0);
    if (!matches(row.gpus, limits) || !mask_fits || !dropout_fits) {
      continue;
    }
    if (row.tile.shared_bytes() > limits.shared_bytes_per_cta) {
      throw UnsupportedProblem("fa2 at head_dim " + std::to_string(head_dim) + " needs " +
                               std::to_string(row.tile.shared_bytes()) +
                               " bytes of shared memory per CTA; this GPU has " +
                               std::to_string(limits.shared_bytes_per_cta));
    }
    return row.tile;
  }
  throw UnsupportedProblem("fa2 supports head_dim up to 256, not " + std::to_string(problem.head_dim));
}

}  // namespace warpscope::kernels::fa2
