// What SMs ask of the memory system.
#pragma once

#include <cstdint>

namespace warpscope::memory {

enum class AccessKind : std::uint8_t { read, write, reduce };

/// The partition of the L2 that an SM belongs to, as a bit mask.
constexpr std::uint32_t partition_of_sm(int sm, int partitions) {
  return 1U << (sm % partitions);
}

}  // namespace warpscope::memory
