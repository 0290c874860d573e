// Where FlashAttention-2's library would run another kernel than the one that is modelled.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"

namespace warpscope::experiments {

/// Into how many parts the library divides the keys where that is left to it (num_splits=0), so that few
/// tiles of queries fill the GPU: of the counts that give parts of different sizes, the smallest whose waves
/// are at least 0.85 times as full as the fullest. 1 where `tiles` fill 0.8 of the `slots` for CTAs. Source:
/// csrc/flash_attn/flash_api.cpp at commit 0251105a, num_splits_heuristic; early releases do not split.
int splits_of_tiles(std::int64_t tiles, std::int64_t slots, std::int64_t key_blocks);

/// True where it treats the query heads that share K and V as rows of one tile: one query each.
bool library_groups_heads(const kernels::Problem& problem);

/// What it would use for a forward pass without dropout on a GPU with so many SMs.
int library_splits(const kernels::Problem& problem, int sm_count);

}  // namespace warpscope::experiments
