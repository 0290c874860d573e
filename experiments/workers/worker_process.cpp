#include "experiments/workers/worker_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <system_error>

namespace warpscope::experiments {
namespace {

constexpr char kTask = 'T';
constexpr char kResult = 'R';
constexpr char kRefusal = 'E';
constexpr char kNoMemory = 'M';

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

void answer(const Work& work, const std::string& task, int socket) {
  bool sent = false;
  try {
    sent = send_frame(socket, kResult, work(task));
  } catch (const std::bad_alloc&) {
    sent = send_frame(socket, kNoMemory, "out of memory");
  } catch (const std::exception& error) {
    sent = send_frame(socket, kRefusal, error.what());
  } catch (...) {
    sent = send_frame(socket, kRefusal, "unknown exception");
  }
  if (!sent) {
    ::_exit(0);
  }
}

[[noreturn]] void serve(const Work& work, int socket, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(0);  // the parent died before it could be asked for
  }
  volunteer_for_out_of_memory();
  FrameReader reader(socket);
  while (reader.read() == FrameReader::State::open) {
    while (const std::optional<Frame> frame = reader.next()) {
      answer(work, frame->text, socket);
    }
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

WorkerProcess::WorkerProcess(const Work& work) : reader_(-1) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "cannot start a worker process: socketpair");
  }
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0) {
    const int error = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw std::system_error(error, std::generic_category(), "cannot start a worker process: fork");
  }
  if (process_ == 0) {
    ::close(ends[0]);
    serve(work, ends[1], parent);
  }
  ::close(ends[1]);
  socket_ = ends[0];
  reader_ = FrameReader(socket_);
}

WorkerProcess::~WorkerProcess() {
  ::close(socket_);
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    wait_for(process_);
  }
}

void WorkerProcess::submit(const std::string& task) {
  // Where the worker is gone already, receive() will say so.
  send_frame(socket_, kTask, task);
}

std::optional<Outcome> WorkerProcess::receive() {
  const bool closed = reader_.read() == FrameReader::State::closed;
  if (std::optional<Frame> frame = reader_.next()) {
    const Fate fate = frame->kind == kResult    ? Fate::done
                      : frame->kind == kRefusal ? Fate::refused
                                                : Fate::died;
    return Outcome{fate, std::move(frame->text)};
  }
  return closed ? std::optional(bury()) : std::nullopt;
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
  if (WIFSIGNALED(status)) {
    return {Fate::died, fmt::format("the worker process was ended by signal {} ({})", WTERMSIG(status),
                                    ::strsignal(WTERMSIG(status)))};
  }
  return {Fate::died, fmt::format("the worker process ended early with status {}", WEXITSTATUS(status))};
}

}  // namespace warpscope::experiments
