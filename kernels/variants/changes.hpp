// The steps from FlashAttention-1 to FlashAttention-2, by name.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/kernel.hpp"
#include "kernels/variants/options.hpp"

namespace warpscope::kernels::variants {

/// What a choice does to one pass; without a title, nothing.
struct ChangeOfPass {
  std::string_view title;        ///< two or three words
  std::string_view description;  ///< what the kernel does with it, a sentence
  std::string_view relieves;     ///< where its effect is to be looked for, in counts
};

/// One choice that a kernel may take the one way or the other.
struct Change {
  std::string_view name;  ///< as in fa1+split_q and fa2-split_q
  bool AttentionOptions::*option;
  ChangeOfPass forward;
  ChangeOfPass backward;

  const ChangeOfPass& in(Pass pass) const { return pass == Pass::backward ? backward : forward; }
  /// FlashAttention-2 makes it in that pass and FlashAttention-1 does not.
  bool is_on_ladder(Pass pass) const {
    return !in(pass).title.empty() && kFa2Options.*option && !(kFa1Options.*option);
  }
};

/// All of them, in the order in which the ladders climb.
std::span<const Change> all_changes();
/// Those that do something in a pass, in that order.
std::vector<Change> changes_of(Pass pass);

}  // namespace warpscope::kernels::variants
