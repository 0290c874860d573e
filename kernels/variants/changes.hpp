// The steps from FlashAttention-1 to FlashAttention-2, by name.
#pragma once

#include <span>
#include <string_view>

#include "kernels/variants/options.hpp"

namespace warpscope::kernels::variants {

/// One choice that a kernel may take the one way or the other.
struct Change {
  std::string_view name;         ///< as in fa1+split_q and fa2-split_q
  std::string_view title;        ///< two or three words
  std::string_view description;  ///< what the kernel does with it, a sentence
  std::string_view relieves;     ///< where its effect is to be looked for, in counts
  bool AttentionOptions::*option;
};

/// All of them, in the order in which the ladder climbs.
std::span<const Change> all_changes();

}  // namespace warpscope::kernels::variants
