// How far long work has come, on a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

namespace warpscope::experiments {

/// One line on standard error that is rewritten as points are done. Silent unless standard error is a
/// terminal, so that logs and pipes see none of it.
class Progress {
 public:
  /// `known` of the `total` points are done already and say nothing about the rate.
  Progress(std::string what, std::size_t total, std::size_t known = 0);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance();

 private:
  using Clock = std::chrono::steady_clock;

  void show(Clock::time_point now);

  std::string what_;
  std::size_t total_;
  std::size_t known_;
  std::size_t done_ = 0;
  bool visible_;
  Clock::time_point start_;
  Clock::time_point shown_;
};

/// "sweep: 12 of 48 points, 3.1 a second, 12 s left"; `known` of those done were so before.
std::string progress_text(std::string_view what, std::size_t total, std::size_t known, std::size_t done,
                          double seconds);

/// "45 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace warpscope::experiments
