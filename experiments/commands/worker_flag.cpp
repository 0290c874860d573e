#include "experiments/commands/worker_flag.hpp"

#include <fmt/format.h>

#include <charconv>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {

void add_workers_flag(CLI::App& app, std::string& value) {
  app.add_option("-j,--jobs", value, "points at a time (default: one per processor)")->type_name("N");
}

int read_workers(const std::string& value) {
  constexpr int kMost = 1024;
  if (value.empty()) {
    return default_workers();
  }
  int number = 0;
  const char* end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || rest != end || number < 1 || number > kMost) {
    throw UsageError(fmt::format("-j {}: legal is an integer from 1 to {}", in_quotes(value), kMost));
  }
  return number;
}

}  // namespace warpscope::experiments
