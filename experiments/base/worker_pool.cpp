#include "experiments/base/worker_pool.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <system_error>
#include <vector>

namespace warpscope::experiments {
namespace {

// First byte of what a worker writes. The last byte is kEnd, so that a message cut short is noticed.
constexpr char kResult = 'R';
constexpr char kError = 'E';
constexpr char kEnd = '.';

struct Worker {
  std::size_t index = 0;
  pid_t process = 0;
  int pipe = -1;
  std::string message;
};

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) {
      return;
    }
    text.remove_prefix(written < 0 ? 0 : static_cast<std::size_t>(written));
  }
}

[[noreturn]] void work(const Job& job, std::size_t index, int pipe) {
  // A worker must not outlive a sweep that is killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::string message;
  try {
    message = kResult + job(index);
  } catch (const std::exception& error) {
    message = kError + std::string(error.what());
  } catch (...) {
    message = std::string(1, kError) + "unknown exception";
  }
  write_all(pipe, message + kEnd);
  ::_exit(0);  // not exit(): buffers and exit handlers belong to the parent
}

Worker start(const Job& job, std::size_t index, const std::vector<Worker>& others) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "pipe");
  }
  const pid_t process = ::fork();
  if (process < 0) {
    throw std::system_error(errno, std::generic_category(), "fork");
  }
  if (process == 0) {
    ::close(ends[0]);
    for (const Worker& other : others) {
      ::close(other.pipe);
    }
    work(job, index, ends[1]);
  }
  ::close(ends[1]);
  return {index, process, ends[0], {}};
}

JobOutcome outcome_of(const Worker& worker, int status) {
  const std::string& message = worker.message;
  if (message.size() >= 2 && message.back() == kEnd) {
    return {message.front() == kResult, message.substr(1, message.size() - 2)};
  }
  if (WIFSIGNALED(status)) {
    return {false, fmt::format("the worker process was ended by signal {} ({})", WTERMSIG(status),
                               ::strsignal(WTERMSIG(status)))};
  }
  return {false, fmt::format("the worker process ended early with status {}", WEXITSTATUS(status))};
}

/// Takes what the worker wrote; true once it has closed its pipe.
bool read_some(Worker& worker) {
  std::array<char, 65536> buffer{};
  const ssize_t count = ::read(worker.pipe, buffer.data(), buffer.size());
  if (count < 0) {
    return errno != EINTR;
  }
  worker.message.append(buffer.data(), static_cast<std::size_t>(count));
  return count == 0;
}

JobOutcome finish(const Worker& worker) {
  int status = 0;
  while (::waitpid(worker.process, &status, 0) < 0 && errno == EINTR) {
  }
  ::close(worker.pipe);
  return outcome_of(worker, status);
}

}  // namespace

void run_in_processes(std::size_t count, int workers, const Job& job, const JobDone& done) {
  std::vector<Worker> running;
  std::size_t next = 0;
  while (next < count || !running.empty()) {
    while (next < count && running.size() < static_cast<std::size_t>(std::max(workers, 1))) {
      running.push_back(start(job, next++, running));
    }
    std::vector<pollfd> pipes;
    for (const Worker& worker : running) {
      pipes.push_back({worker.pipe, POLLIN, 0});
    }
    if (::poll(pipes.data(), pipes.size(), -1) < 0) {
      continue;  // a signal
    }
    for (std::size_t i = pipes.size(); i-- > 0;) {
      if (pipes[i].revents != 0 && read_some(running[i])) {
        const Worker ended = std::move(running[i]);
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(i));
        done(ended.index, finish(ended));
      }
    }
  }
}

int default_workers() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? std::max(1, CPU_COUNT(&allowed)) : 1;
}

}  // namespace warpscope::experiments
