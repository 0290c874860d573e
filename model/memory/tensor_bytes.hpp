// Tensors as the memory sees them.
#pragma once

#include <cstdint>

namespace warpscope::memory {

/// Room that a tensor takes in memory.
struct TensorExtent {
  std::int64_t segments = 1;
  std::int64_t segment_bytes = 0;
};

/// Bytes of one tensor that moved between the SMs and the L2 (reads in whole sectors), and across the pins of
/// HBM.
struct TensorBytes {
  std::uint64_t l2_read = 0;
  std::uint64_t l2_read_hit = 0;
  std::uint64_t l2_write = 0;
  std::uint64_t hbm_read = 0;
  std::uint64_t hbm_write = 0;
};

}  // namespace warpscope::memory
