#include "kernels/variants/changes.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace warpscope::kernels::variants {

std::span<const Change> all_changes() {
  using Options = AttentionOptions;
  static constexpr ChangeOfPass kNone{};
  static constexpr std::array kChanges = {
      Change{"skip_masked",
             &Options::skip_masked,
             {"Skip masked blocks", "Key blocks that lie wholly beyond the causal mask are left out.",
              "iterations, instructions"},
             kNone},
      Change{"lse",
             &Options::lse,
             {"Keep log-sum-exp",
              "One number is kept of every row, the log-sum-exp, instead of its maximum and its sum.",
              "bytes of row vectors"},
             kNone},
      Change{"split_q",
             &Options::split_q,
             {"Split-Q",
              "Each warp owns rows of queries; before, the warps shared the keys, and exchanged maxima and "
              "partial outputs through shared memory.",
              "shared-memory wavefronts, barriers, reductions"},
             {"Whole dQ",
              "Each warp owns a piece of dQ and takes dS of all keys from shared memory; before, each had a "
              "part of all of dQ from its own keys, and eight parts were added up through shared memory. A "
              "step has as many queries as give each warp a piece.",
              "shared-memory wavefronts"}},
      Change{"q_stationary",
             &Options::q_stationary,
             {"Queries stay",
              "Keys pass by a block of queries whose output stays in registers; before, queries passed by a "
              "block of keys and partial outputs went to memory and back.",
              "HBM and L2 bytes of partial outputs"},
             kNone},
      Change{"deferred",
             &Options::deferred,
             {"Deferred normalisation",
              "The output is divided by its row sum once, at the end, and not in every key block.",
              "non-matmul instructions per score"},
             kNone},
      Change{"mask_at_edge",
             &Options::mask_at_edge,
             {"Mask at the edge", "Scores are masked only in the blocks that the mask cuts.",
              "non-matmul instructions per score"},
             {"Mask where needed",
              "Scores are masked only where a causal mask or the end of the keys is; before, in every step.",
              "non-matmul instructions per score"}},
      Change{"seq_parallel",
             &Options::seq_parallel,
             {"Sequence-parallel",
              "Every block of queries has a CTA of its own; before, one to thirty CTAs shared a head.",
              "SMs filled, waves"},
             {"Sequence-parallel",
              "Every block of keys has a CTA of its own, which adds to dQ in memory by atomic operations; "
              "before, where heads alone fill the waves, a CTA took a head from block to block.",
              "SMs filled, waves, HBM bytes of dQ"}},
      Change{"cp_async",
             &Options::cp_async,
             {"Asynchronous copies",
              "Tiles go to shared memory by cp.async, issued ahead of their use, and not through registers.",
              "long_scoreboard stalls, instructions"},
             {"Asynchronous copies",
              "Tiles go to shared memory by cp.async, issued ahead of their use, and not through registers.",
              "long_scoreboard stalls, instructions"}},
      Change{
          "fa2_tile",
          &Options::fa2_tile,
          {"FA2's tile",
           "The tile of FA2's launch code, 128 queries by 64 or 128 keys; before, the nearest to FA1's.",
           "reads of K and V, LDSM per HMMA"},
          {"FA2's steps",
           "A step has the 64 or 128 queries of FA2's launch code, and its loop and small launches; before, "
           "16 or 32 queries.",
           "barriers, instructions per score, LDSM per HMMA"}},
      Change{"longest_first",
             &Options::longest_first,
             {"Longest first", "CTAs with the most key blocks start first, so that short ones fill the tail.",
              "tail under a causal mask"},
             kNone},
      Change{"warp_grid",
             &Options::warp_grid,
             kNone,
             {"Grid of warps",
              "A grid of 2 x 4 or 4 x 2 warps shares the scores and the gradients of K and V; before, eight "
              "warps stood in a column along the keys, each with all queries.",
              "shared-memory wavefronts, LDSM per HMMA"}},
  };
  return kChanges;
}

std::vector<Change> changes_of(Pass pass) {
  std::vector<Change> changes;
  std::ranges::copy_if(all_changes(), std::back_inserter(changes),
                       [pass](const Change& change) { return !change.in(pass).title.empty(); });
  return changes;
}

}  // namespace warpscope::kernels::variants
