#include "kernels/fa2/key_splits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "kernels/fa2/split_tiles.hpp"

namespace warpscope::kernels::fa2 {
namespace {

std::int64_t blocks_of(std::int64_t number, std::int64_t block) {
  return (number + block - 1) / block;
}

}  // namespace

int splits_of_tiles(std::int64_t tiles, std::int64_t slots, std::int64_t key_blocks) {
  // In single precision, as there: ties are decided alike.
  constexpr float kFull = 0.8F;
  constexpr double kNearTheBest = 0.85;
  if (static_cast<float>(tiles) >= kFull * static_cast<float>(slots)) {
    return 1;
  }
  std::vector<std::pair<int, float>> choices;  // splits, and how full their waves are
  float best = 0;
  for (std::int64_t splits = 1; splits <= std::min({kMostSplits, slots, key_blocks}); ++splits) {
    if (splits == 1 || blocks_of(key_blocks, splits) != blocks_of(key_blocks, splits - 1)) {
      const float waves = static_cast<float>(tiles * splits) / static_cast<float>(slots);
      choices.emplace_back(static_cast<int>(splits), waves / std::ceil(waves));
      best = std::max(best, choices.back().second);
    }
  }
  const auto is_enough = [&](const auto& choice) { return choice.second >= kNearTheBest * best; };
  const auto chosen = std::ranges::find_if(choices, is_enough);
  return chosen == choices.end() ? 1 : chosen->first;
}

std::int64_t key_splits(const Problem& problem, int sm_count) {
  if (problem.num_splits != kAutoSplits) {
    return problem.num_splits;
  }
  if (!problem.seqlens.empty() || problem.dropout > 0) {
    return 1;
  }
  constexpr std::int64_t kCtasPerSm = 2;  // of 128 threads, says the source
  const Problem call = as_called(problem);
  return splits_of_tiles(call.batch * call.heads * blocks_of(call.seqlen_q, kSplitRows),
                         kCtasPerSm * sm_count, blocks_of(call.seqlen_k, split_keys(call.head_dim)));
}

bool groups_heads(const Problem& problem) {
  return problem.seqlen_q == 1 && problem.heads > problem.heads_kv && problem.head_dim % 8 == 0 &&
         !problem.window.is_given() && !problem.alibi && problem.seqlens.empty() && problem.dropout == 0;
}

Problem as_called(const Problem& problem) {
  Problem call = problem;
  call.causal = problem.causal && (problem.seqlen_q > 1 || problem.alibi);
  for (std::int64_t* side : {&call.window.left, &call.window.right}) {
    *side = *side >= problem.seqlen_k ? -1 : *side;
  }
  if (call.causal) {
    call.window.right = 0;
  }
  call.causal = call.window.left < 0 && call.window.right == 0;
  if (call.causal) {
    call.window = {};
  } else if (call.window.is_given()) {
    // The library says seqlen_k, which hides keys from the first of more queries than keys.
    for (std::int64_t* side : {&call.window.left, &call.window.right}) {
      *side = *side < 0 ? std::max(problem.seqlen_q, problem.seqlen_k) : *side;
    }
  }
  if (groups_heads(call)) {
    call.seqlen_q = problem.heads / problem.heads_kv;
    call.heads = problem.heads_kv;
  }
  return call;
}

}  // namespace warpscope::kernels::fa2
