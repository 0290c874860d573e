// A launch in which nothing can happen any more.
#pragma once

#include <stdexcept>
#include <string>

namespace warpscope::gpu {

/// The message names launch, SM, and the waiting warps with program, instruction number and opcode.
class DeadlockError : public std::runtime_error {
 public:
  explicit DeadlockError(const std::string& message) : std::runtime_error(message) {}
};

}  // namespace warpscope::gpu
