// How FlashAttention-2's library calls its forward kernels: which heads it groups, and into how many parts it
// divides the keys (csrc/flash_attn/flash_api.cpp at commit 0251105a; early releases do neither).
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"

namespace warpscope::kernels::fa2 {

/// What the library takes at most.
inline constexpr std::int64_t kMostSplits = 128;

/// Into how many parts the library divides the keys where that is left to it (num_splits=0), so that few
/// tiles of queries fill the GPU: of the counts that give parts of different sizes, the smallest whose waves
/// are at least 0.85 times as full as the fullest. 1 where `tiles` fill 0.8 of the `slots` for CTAs
/// (num_splits_heuristic).
int splits_of_tiles(std::int64_t tiles, std::int64_t slots, std::int64_t key_blocks);

/// The number of parts for a forward pass without dropout on a GPU with so many SMs: `num_splits` of the
/// problem, or what the library chooses.
std::int64_t key_splits(const Problem& problem, int sm_count);

/// True where the query heads that share K and V become rows of one tile: one query each.
bool groups_heads(const Problem& problem);

/// The problem that the kernels get to see: query heads grouped, no causal mask where the only query sees all
/// keys, and windows without what they do not hide: causal, both sides given, or none. O and the log-sum-exp
/// lie in memory as before.
Problem as_called(const Problem& problem);

}  // namespace warpscope::kernels::fa2
