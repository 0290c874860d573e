#include "experiments/base/named_files.hpp"

#include <fmt/format.h>

#include <system_error>

#include "experiments/base/files.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

namespace fs = std::filesystem;

bool is_file(const NamedFile& file) {
  std::error_code error;
  return names_file(file.path) && (!fs::exists(file.path, error) || fs::is_regular_file(file.path, error));
}

/// True for hard links too.
bool is_same(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return place_of(a) == place_of(b) || fs::equivalent(a, b, error);
}

void refuse_if_same(const NamedFile& other, const NamedFile& output) {
  if (is_file(other) && is_file(output) && is_same(other.path, output.path)) {
    throw UsageError(fmt::format("{}: is named by {} and by {}; an output needs a file of its own",
                                 output.path.string(), other.flag, output.flag));
  }
}

}  // namespace

void check_apart(std::span<const NamedFile> inputs, std::span<const NamedFile> outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (const NamedFile& input : inputs) {
      refuse_if_same(input, outputs[i]);
    }
    for (const NamedFile& earlier : outputs.first(i)) {
      refuse_if_same(earlier, outputs[i]);
    }
  }
}

}  // namespace warpscope::experiments
