#include "kernels/variants/changes.hpp"

#include <array>

namespace warpscope::kernels::variants {

std::span<const Change> all_changes() {
  using Options = AttentionOptions;
  static constexpr std::array kChanges = {
      Change{"skip_masked", "Skip masked blocks",
             "Key blocks that lie wholly beyond the causal mask are left out.", "iterations, instructions",
             &Options::skip_masked},
      Change{"lse", "Keep log-sum-exp",
             "One number is kept of every row, the log-sum-exp, instead of its maximum and its sum.",
             "bytes of row vectors", &Options::lse},
      Change{"split_q", "Split-Q",
             "Each warp owns rows of queries; before, the warps shared the keys, and exchanged maxima and "
             "partial outputs through shared memory.",
             "shared-memory wavefronts, barriers, reductions", &Options::split_q},
      Change{"q_stationary", "Queries stay",
             "Keys pass by a block of queries whose output stays in registers; before, queries passed by a "
             "block of keys and partial outputs went to memory and back.",
             "HBM and L2 bytes of partial outputs", &Options::q_stationary},
      Change{"deferred", "Deferred normalisation",
             "The output is divided by its row sum once, at the end, and not in every key block.",
             "non-matmul instructions per score", &Options::deferred},
      Change{"mask_at_edge", "Mask at the edge", "Scores are masked only in the blocks that the mask cuts.",
             "non-matmul instructions per score", &Options::mask_at_edge},
      Change{"seq_parallel", "Sequence-parallel",
             "Every block of queries has a CTA of its own; before, one to thirty CTAs shared a head.",
             "SMs filled, waves", &Options::seq_parallel},
      Change{"cp_async", "Asynchronous copies",
             "Tiles go to shared memory by cp.async, issued ahead of their use, and not through registers.",
             "long_scoreboard stalls, instructions", &Options::cp_async},
      Change{"fa2_tile", "FA2's tile",
             "The tile of FA2's launch code, 128 queries by 64 or 128 keys; before, the nearest to FA1's.",
             "reads of K and V, LDSM per HMMA", &Options::fa2_tile},
      Change{"longest_first", "Longest first",
             "CTAs with the most key blocks start first, so that short ones fill the tail.",
             "tail under a causal mask", &Options::longest_first},
  };
  return kChanges;
}

}  // namespace warpscope::kernels::variants
