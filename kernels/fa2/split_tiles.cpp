#include "kernels/fa2/split_tiles.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa2 {
namespace {

struct Row {
  int head_dim;
  int divided;  ///< registers per thread, without a causal mask
  int whole;    ///< the same where the keys are in one part
};

// Dao-AILab/flash-attention 0251105a, csrc/flash_attn/src/flash_fwd_launch_template.h, lines 136-192.
// Registers of head dimensions 64 and 128: nvcc 13.0, sm_90 (experiments/reference/measured-h200/
// counters_split.csv). The others, which were not compiled, are taken to need as many as the next larger.
constexpr std::array kRows = {Row{32, 255, 202},  Row{64, 255, 202},  Row{96, 254, 180},
                              Row{128, 254, 180}, Row{192, 255, 255}, Row{256, 255, 255}};

}  // namespace

ForwardTile split_tile(const Problem& problem, std::int64_t splits, const GpuLimits& limits) {
  constexpr int kWarps = 4;
  const auto row =
      std::ranges::find_if(kRows, [&](const Row& one) { return one.head_dim >= problem.head_dim; });
  if (row == kRows.end()) {
    throw UnsupportedProblem("fa2 supports head_dim up to 256, not " + std::to_string(problem.head_dim));
  }
  const int keys = splits > 1 ? split_keys(row->head_dim) : row->head_dim <= 64 ? 128 : 64;
  const ForwardTile tile{row->head_dim, kSplitRows, keys, kWarps, splits > 1 ? row->divided : row->whole};
  if (tile.shared_bytes() > limits.shared_bytes_per_cta) {
    throw UnsupportedProblem("fa2's split-KV kernel at head_dim " + std::to_string(tile.head_dim) +
                             " needs " + std::to_string(tile.shared_bytes()) +
                             " bytes of shared memory per CTA; this GPU has " +
                             std::to_string(limits.shared_bytes_per_cta));
  }
  return tile;
}

}  // namespace warpscope::kernels::fa2
