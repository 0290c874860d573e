// Kernels between FlashAttention-1 and FlashAttention-2: fa1+split_q+q_stationary, fa2-cp_async.
#pragma once

#include <string>
#include <string_view>

#include "kernels/kernel.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels::variants {

/// The kernel that makes these choices, under the name of its base with what is added and taken away. Those
/// of FlashAttention-1 and -2 are the kernels `fa1` and `fa2`.
Kernel variant(const AttentionOptions& options, std::string name);

/// Reads a name: a base (fa1 or fa2), then +change or -change. Throws std::invalid_argument that says which
/// part is wrong and what is legal there.
AttentionOptions read_options(std::string_view name);
Kernel find_variant(std::string_view name);

}  // namespace warpscope::kernels::variants
