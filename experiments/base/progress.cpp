#include "experiments/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace warpscope::experiments {
namespace {

// Back to the first column and clear what stands there.
constexpr const char* kRestartLine = "\r\033[K";

}  // namespace

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)),
      total_(total),
      visible_(::isatty(STDERR_FILENO) == 1),
      start_(std::chrono::steady_clock::now()) {
  show();
}

Progress::~Progress() {
  if (visible_) {
    fmt::print(stderr, "{}", kRestartLine);
  }
}

void Progress::advance() {
  ++done_;
  show();
}

void Progress::show() const {
  if (!visible_) {
    return;
  }
  fmt::print(stderr, "{}{}: {} of {} points", kRestartLine, what_, done_, total_);
  const double elapsed = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  if (done_ > 0 && elapsed > 0) {
    const double per_second = static_cast<double>(done_) / elapsed;
    fmt::print(stderr, ", {:.2g} a second, {} left", per_second,
               duration_text(static_cast<double>(total_ - done_) / per_second));
  }
  std::fflush(stderr);
}

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(seconds + 0.5);
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  if (whole < 3600) {
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace warpscope::experiments
