// FlashAttention-2's loops with FlashAttention-1's division of work: the warps of a CTA share the keys.
#pragma once

#include "kernels/fa2/forward_program.hpp"

namespace warpscope::kernels::variants {

/// Every warp has all query rows and some keys of each block. The row maximum is exchanged in every block;
/// the warps' partial outputs are summed once, behind the last. Beyond the source's instructions a block
/// executes what FlashAttention-1's build adds to one of its steps, which are alike.
void sliced_k_program(CtaMachine& machine, const fa2::ForwardShape& shape);

/// Bytes of shared memory that it uses.
std::uint32_t sliced_k_shared_bytes(const fa2::ForwardTile& tile);

}  // namespace warpscope::kernels::variants
