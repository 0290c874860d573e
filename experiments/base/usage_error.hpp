// The error of input that cannot be used.
#pragma once

#include <stdexcept>

namespace warpscope::experiments {

/// what() is one line that names the place (file and line, or flag), the value and what is legal. Ends the
/// command with exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A file that cannot be read or written; as UsageError.
class FileError : public UsageError {
 public:
  using UsageError::UsageError;
};

}  // namespace warpscope::experiments
