// SIGINT, SIGTERM and SIGHUP as an exception, at a moment when nothing is half done.
#pragma once

#include <signal.h>

#include <optional>
#include <stdexcept>
#include <string>

namespace warpscope::experiments {

/// The user or the system wants this process to end. what() says what is kept and how to go on.
class Interrupted : public std::runtime_error {
 public:
  Interrupted(int signal, const std::string& message) : std::runtime_error(message), signal_(signal) {}
  int signal() const { return signal_; }

 private:
  int signal_;
};

/// While it lives, the signals that ask a process to end wait to be asked for. Processes that are forked off
/// meanwhile are not ended by them either: it is for their parent to decide.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

  /// Takes a signal that has arrived.
  std::optional<int> take() const;

 private:
  sigset_t held_;
  sigset_t before_;
};

/// Ends this process by `signal`, as if that had never been held: the caller sees why it ended.
[[noreturn]] void end_by_signal(int signal);

}  // namespace warpscope::experiments
