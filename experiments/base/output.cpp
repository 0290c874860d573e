#include "experiments/base/output.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <system_error>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {

void print_output(std::string_view text) {
  const std::string shown = without_controls(text);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) != shown.size() || std::fflush(stdout) != 0) {
    const int error = errno;
    std::clearerr(stdout);
    throw FileError(
        fmt::format("standard output: cannot be written: {}", std::generic_category().message(error)));
  }
}

void print_error(std::string_view message) {
  while (!message.empty()) {
    const std::size_t end = message.find('\n');
    const std::string_view line = message.substr(0, end);
    message.remove_prefix(end == std::string_view::npos ? message.size() : end + 1);
    if (!line.empty()) {
      fmt::print(stderr, "warpscope: {}\n", without_controls(line));
    }
  }
}

}  // namespace warpscope::experiments
