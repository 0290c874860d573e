#include "experiments/report/library_splits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace warpscope::experiments {
namespace {

std::int64_t blocks_of(std::int64_t number, std::int64_t block) {
  return (number + block - 1) / block;
}

}  // namespace

int splits_of_tiles(std::int64_t tiles, std::int64_t slots, std::int64_t key_blocks) {
  // In single precision, as there: ties are decided alike.
  constexpr float kFull = 0.8F;
  constexpr double kNearTheBest = 0.85;
  constexpr std::int64_t kMost = 128;
  if (static_cast<float>(tiles) >= kFull * static_cast<float>(slots)) {
    return 1;
  }
  std::vector<std::pair<int, float>> choices;  // splits, and how full their waves are
  float best = 0;
  for (std::int64_t splits = 1; splits <= std::min({kMost, slots, key_blocks}); ++splits) {
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

bool library_groups_heads(const kernels::Problem& problem) {
  return problem.seqlen_q == 1 && problem.heads > problem.heads_kv && problem.head_dim % 8 == 0;
}

int library_splits(const kernels::Problem& problem, int sm_count) {
  constexpr std::int64_t kTileRows = 64;
  constexpr std::int64_t kCtasPerSm = 2;
  const std::int64_t block_keys = problem.head_dim <= 64 ? 256 : problem.head_dim <= 128 ? 128 : 64;
  const bool grouped = library_groups_heads(problem);
  const std::int64_t rows = grouped ? problem.heads / problem.heads_kv : problem.seqlen_q;
  const std::int64_t heads = grouped ? problem.heads_kv : problem.heads;
  return splits_of_tiles(problem.batch * heads * blocks_of(rows, kTileRows), kCtasPerSm * sm_count,
                         blocks_of(problem.seqlen_k, block_keys));
}

}  // namespace warpscope::experiments
