// Tensors as the memory sees them.
#pragma once

#include <cstdint>

namespace warpscope::memory {

/// Room that a tensor takes in memory.
struct TensorExtent {
  std::int64_t segments = 1;
  std::int64_t segment_bytes = 0;
  std::int64_t interleaved_segments = 1;  ///< trace::Tensor
  std::int64_t line_segments = 1;         ///< likewise
  std::int64_t row_bytes = 0;             ///< likewise
};

}  // namespace warpscope::memory
