// Where the pages of a paged KV cache lie.
#pragma once

#include <vector>

#include "kernels/kernel.hpp"

namespace warpscope::kernels {

/// Pages per sequence, the last of which may be in part unused.
std::int64_t pages_per_sequence(const Problem& problem);

/// For each sequence and page of its keys the number of the page that holds them: a permutation that looks
/// random and is always the same. Full pages change places with each other, and so do those that are in part
/// unused.
std::vector<float> page_table(const Problem& problem);

}  // namespace warpscope::kernels
