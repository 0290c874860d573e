// The names of all kernels of attention, as parameters of tests.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/kernel.hpp"

namespace warpscope::tests {

inline std::vector<std::string_view> attention_kernels() {
  std::vector<std::string_view> names;
  for (const kernels::Kernel& kernel : kernels::all_kernels()) {
    if (kernel.type == kernels::ProblemType::attention) {
      names.push_back(kernel.name);
    }
  }
  return names;
}

}  // namespace warpscope::tests
