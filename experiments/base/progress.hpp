// How far long work has come, on a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace warpscope::experiments {

/// One line on standard error that is rewritten as points are done. Silent unless standard error is a
/// terminal, so that logs and pipes see none of it.
class Progress {
 public:
  Progress(std::string what, std::size_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance();

 private:
  void show() const;

  std::string what_;
  std::size_t total_;
  std::size_t done_ = 0;
  bool visible_;
  std::chrono::steady_clock::time_point start_;
};

/// "45 s", "3 min 20 s", "2 h 5 min".
std::string duration_text(double seconds);

}  // namespace warpscope::experiments
