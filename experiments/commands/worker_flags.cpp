#include "experiments/commands/worker_flags.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"

namespace warpscope::experiments {
namespace {

/// The whole of `value` as a number from `least` to `most`; `legal` says so in words.
template <typename Number>
Number read_number(const char* flag, const std::string& value, Number least, Number most,
                   const std::string& legal) {
  Number number{};
  const char* end = value.data() + value.size();
  const auto [rest, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc() || rest != end || !(number >= least && number <= most)) {
    throw UsageError(fmt::format("{} {}: legal is {}", flag, in_quotes(value), legal));
  }
  return number;
}

}  // namespace

void WorkerFlags::add_to(CLI::App& app, const std::string& jobs_help) {
  app.add_option("-j,--jobs", jobs, jobs_help)->type_name("N");
  app.add_option("--timeout", timeout, "end a point after that many seconds")->type_name("SECONDS");
  app.add_option("--memory", memory, "end a point that needs more memory")->type_name("MIB");
}

PoolOptions WorkerFlags::read(int processes) const {
  constexpr int kMost = 1024;
  constexpr double kShortest = 0.001;
  constexpr double kLongest = 1e6;  // eleven days
  constexpr std::uint64_t kLeastMib = 16;
  constexpr std::uint64_t kMostMib = std::uint64_t{1} << 30;
  constexpr std::uint64_t kMib = std::uint64_t{1} << 20;
  PoolOptions options{processes, {}};
  if (!jobs.empty()) {
    options.processes = read_number("-j", jobs, 1, kMost, fmt::format("an integer from 1 to {}", kMost));
  }
  if (!timeout.empty()) {
    const double seconds = read_number("--timeout", timeout, kShortest, kLongest,
                                       fmt::format("seconds from {} to {:.0f}", kShortest, kLongest));
    options.limits.time = std::chrono::milliseconds(std::llround(seconds * 1000));
  }
  if (!memory.empty()) {
    options.limits.memory_bytes =
        kMib * read_number("--memory", memory, kLeastMib, kMostMib,
                           fmt::format("an integer from {} to {}, in MiB", kLeastMib, kMostMib));
  }
  return options;
}

}  // namespace warpscope::experiments
