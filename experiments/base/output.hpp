// Standard output and standard error.
#pragma once

#include <string_view>

namespace warpscope::experiments {

/// Writes to standard output, all of it or FileError: a result that somebody waits for must not be cut short
/// in silence.
void print_output(std::string_view text);

/// Writes each line of a message to standard error behind the program's name.
void print_error(std::string_view message);

}  // namespace warpscope::experiments
