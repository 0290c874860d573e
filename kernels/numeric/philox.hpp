// The random numbers of FlashAttention-2's dropout.
#pragma once

#include <array>
#include <cstdint>

namespace warpscope::kernels {

/// Philox 4x32 with 7 rounds (csrc/flash_attn/src/philox.cuh).
std::array<std::uint32_t, 4> philox_7(std::uint64_t seed, std::uint64_t subsequence, std::uint64_t offset);

/// Whether FlashAttention-2 keeps the weight of query `row` and key `col` of head number `head` of all
/// sequences (csrc/flash_attn/src/dropout.h), with a seed that is always the same. `probability` is that of
/// dropping.
bool keeps_weight(std::int64_t head, std::int64_t row, std::int64_t col, double probability);

}  // namespace warpscope::kernels
