#include "experiments/base/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

namespace warpscope::experiments {
namespace {

// Back to the first column and clear what stands there.
constexpr const char* kRestartLine = "\r\033[K";
// Points can be done by the hundred a second; nobody reads faster than this.
constexpr std::chrono::milliseconds kShortestInterval{100};

}  // namespace

Progress::Progress(std::string what, std::size_t total, std::size_t known)
    : what_(std::move(what)),
      total_(total),
      known_(known),
      done_(known),
      visible_(::isatty(STDERR_FILENO) == 1),
      start_(Clock::now()) {
  show(start_);
}

Progress::~Progress() {
  if (visible_) {
    fmt::print(stderr, "{}", kRestartLine);
  }
}

void Progress::advance() {
  ++done_;
  const Clock::time_point now = Clock::now();
  if (now - shown_ >= kShortestInterval) {
    show(now);
  }
}

void Progress::show(Clock::time_point now) {
  shown_ = now;
  if (visible_) {
    const double seconds = std::chrono::duration<double>(now - start_).count();
    fmt::print(stderr, "{}{}", kRestartLine, progress_text(what_, total_, known_, done_, seconds));
    std::fflush(stderr);
  }
}

std::string progress_text(std::string_view what, std::size_t total, std::size_t known, std::size_t done,
                          double seconds) {
  std::string text = fmt::format("{}: {} of {} points", what, done, total);
  if (done > known && seconds > 0) {
    const double rate = static_cast<double>(done - known) / seconds;
    const auto [count, unit] = rate >= 1 ? std::pair(rate, "second") : std::pair(rate * 60, "minute");
    text += fmt::format(", {:.{}f} a {}, {} left", count, count < 10 ? 1 : 0, unit,
                        duration_text(static_cast<double>(total - done) / rate));
  }
  return text;
}

std::string duration_text(double seconds) {
  const auto whole = std::lround(seconds);
  if (whole < 60) {
    return fmt::format("{} s", whole);
  }
  if (whole < 3600) {
    return fmt::format("{} min {} s", whole / 60, whole % 60);
  }
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace warpscope::experiments
