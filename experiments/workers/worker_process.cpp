#include "experiments/workers/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/asio/buffer.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/read.hpp>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace warpscope::experiments {
namespace {

namespace asio = boost::asio;

constexpr char kTask = 'T';
constexpr char kDone = 'R';
constexpr char kRefused = 'E';
constexpr char kDied = 'M';

/// Where memory runs out, the system should end a worker, which costs a point, rather than the parent.
void volunteer_for_out_of_memory() {
  constexpr std::string_view kFirst = "1000";
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file >= 0) {
    // Without the file or the right to write it, nothing is lost but the preference.
    static_cast<void>(!::write(file, kFirst.data(), kFirst.size()));
    ::close(file);
  }
}

std::string memory_message(const TaskLimits& limits) {
  constexpr double kMebibyte = 1024 * 1024;
  return limits.memory_bytes ? fmt::format("needs more than the memory limit of {:.0f} MiB",
                                           static_cast<double>(*limits.memory_bytes) / kMebibyte)
                             : "out of memory";
}

char mark_of(Fate fate) {
  return fate == Fate::done ? kDone : fate == Fate::refused ? kRefused : kDied;
}

void answer(const Work& work, const std::string& task, const TaskLimits& limits, Socket& socket) {
  bool sent = false;
  try {
    const Outcome outcome = work(task);
    sent = send_frame(socket, mark_of(outcome.fate), outcome.text);
  } catch (const std::bad_alloc&) {
    sent = send_frame(socket, kDied, memory_message(limits));
  } catch (const std::exception& error) {
    sent = send_frame(socket, kDied, error.what());
  } catch (...) {
    sent = send_frame(socket, kDied, "unknown exception");
  }
  if (!sent) {
    ::_exit(0);
  }
}

[[noreturn]] void serve(const Work& work, const TaskLimits& limits, int descriptor, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(0);  // the parent died before it could be asked for
  }
  volunteer_for_out_of_memory();
  if (limits.memory_bytes) {
    const rlimit limit{*limits.memory_bytes, *limits.memory_bytes};
    ::setrlimit(RLIMIT_DATA, &limit);
  }
  // The parent's events are its own; a copy of them must not be touched.
  asio::io_context events;
  Socket socket(events, asio::local::stream_protocol(), descriptor);
  while (const std::optional<Frame> frame = receive_frame(socket)) {
    answer(work, frame->text, limits, socket);
  }
  ::_exit(0);  // not exit(): buffers and exit handlers belong to the parent
}

int wait_for(pid_t process) {
  int status = 0;
  while (::waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

WorkerProcess::WorkerProcess(asio::io_context& events, const Work& work, const TaskLimits& limits)
    : limits_(limits), socket_(events), deadline_(events) {
  Socket other_end(events);
  asio::local::connect_pair(socket_, other_end);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot start a worker process: fork");
  }
  if (process_ == 0) {
    ::close(socket_.native_handle());
    serve(work, limits_, other_end.native_handle(), parent);
  }
}

WorkerProcess::~WorkerProcess() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    wait_for(process_);
  }
}

void WorkerProcess::submit(const std::string& task, TaskEnded ended) {
  ended_ = std::move(ended);
  out_of_time_ = false;
  if (limits_.time) {
    deadline_.expires_after(*limits_.time);
    deadline_.async_wait([this](const boost::system::error_code& error) {
      // A timer that has run out cannot be cancelled any more: the task may have ended meanwhile.
      if (!error && ended_ && process_ > 0) {
        out_of_time_ = true;
        ::kill(process_, SIGKILL);  // the outcome is the end of the process, which is being waited for
      }
    });
  }
  // Where the worker is gone already, the wait for its outcome will say so.
  send_frame(socket_, kTask, task);
  receive_outcome();
}

void WorkerProcess::receive_outcome() {
  asio::async_read(socket_, asio::buffer(header_.bytes()), [this](const auto& error, std::size_t) {
    if (error) {
      return error == asio::error::operation_aborted ? void() : end(bury());
    }
    text_.resize(header_.text_bytes());
    asio::async_read(socket_, asio::buffer(text_), [this](const auto& failure, std::size_t) {
      if (failure) {
        return failure == asio::error::operation_aborted ? void() : end(bury());
      }
      const Fate fate = header_.kind() == kDone      ? Fate::done
                        : header_.kind() == kRefused ? Fate::refused
                                                     : Fate::died;
      end({fate, std::move(text_)});
    });
  });
}

void WorkerProcess::end(Outcome outcome) {
  deadline_.cancel();
  // The caller may submit the next task at once.
  std::exchange(ended_, nullptr)(std::move(outcome));
}

bool WorkerProcess::is_alive() {
  int status = 0;
  if (process_ > 0 && ::waitpid(process_, &status, WNOHANG) == process_) {
    process_ = -1;
  }
  return process_ > 0;
}

Outcome WorkerProcess::bury() {
  const int status = wait_for(process_);
  process_ = -1;
  if (out_of_time_) {
    return {Fate::died, fmt::format("took longer than the time limit of {:g} s",
                                    std::chrono::duration<double>(*limits_.time).count())};
  }
  if (WIFSIGNALED(status)) {
    return {Fate::died, fmt::format("the worker process was ended by signal {} ({})", WTERMSIG(status),
                                    ::strsignal(WTERMSIG(status)))};
  }
  return {Fate::died, fmt::format("the worker process ended early with status {}", WEXITSTATUS(status))};
}

}  // namespace warpscope::experiments
