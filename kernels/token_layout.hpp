// Tensors in which the heads of a token lie behind one another.
#pragma once

#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"

namespace warpscope::kernels {

/// (batch, tokens, heads, head_dim): rows of the heads of a sequence take turns in memory, in all tensors of
/// 16-bit rows as long as a head. With Problem::heads_first each head lies as a whole.
inline void interleave_heads(std::vector<TensorSpec>& tensors, const Problem& problem) {
  for (TensorSpec& tensor : tensors) {
    const bool of_heads = tensor.cols == problem.head_dim && element_bytes(tensor.type) == 2 &&
                          tensor.segments % problem.batch == 0;
    if (of_heads && !problem.heads_first) {
      tensor.interleaved_segments = tensor.segments / problem.batch;
    }
  }
}

}  // namespace warpscope::kernels
