#include "experiments/base/interruption.hpp"

#include <cstdlib>
#include <ctime>

namespace warpscope::experiments {

HeldSignals::HeldSignals() {
  ::sigemptyset(&held_);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action {};
    // What was ignored from the start, as under nohup, stays so.
    if (::sigaction(signal, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) {
      ::sigaddset(&held_, signal);
    }
  }
  ::sigprocmask(SIG_BLOCK, &held_, &before_);
}

HeldSignals::~HeldSignals() {
  ::sigprocmask(SIG_SETMASK, &before_, nullptr);
}

std::optional<int> HeldSignals::take() const {
  const timespec at_once{};
  const int signal = ::sigtimedwait(&held_, nullptr, &at_once);
  return signal > 0 ? std::optional(signal) : std::nullopt;
}

void end_by_signal(int signal) {
  struct sigaction fatal {};
  fatal.sa_handler = SIG_DFL;
  ::sigaction(signal, &fatal, nullptr);
  ::raise(signal);
  std::_Exit(128 + signal);
}

}  // namespace warpscope::experiments
