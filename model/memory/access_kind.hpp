// What SMs ask of the memory system.
#pragma once

#include <cstdint>

#include "model/hw/hw_config.hpp"

namespace warpscope::memory {

enum class AccessKind : std::uint8_t { read, write, reduce };

/// The partition of the L2 that an SM belongs to, as a bit mask. SMs are numbered in the order in which they
/// get CTAs, one GPC after the other, and GPCs that follow one another mostly lie at one partition. A launch
/// begins with any GPC: here in the middle of such a run (measured-h200/l2_sides.md).
constexpr std::uint32_t partition_of_sm(int sm, const hw::L2& l2) {
  return 1U << ((sm + l2.partition_sms / 2) / l2.partition_sms % l2.partitions);
}

}  // namespace warpscope::memory
