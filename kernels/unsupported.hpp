// The error of a problem that the real kernel refuses, or that is not modelled.
#pragma once

#include <stdexcept>

namespace warpscope::kernels {

/// what() is one line that says which value is not supported and what is.
class UnsupportedProblem : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace warpscope::kernels
