// What the kinds of tensors are called in text.
#pragma once

#include <array>
#include <string_view>

namespace warpscope::trace {

/// In the order of TensorKind.
inline constexpr std::array<std::string_view, 4> kTensorKindNames = {"input", "output", "scratch", "local"};

}  // namespace warpscope::trace
