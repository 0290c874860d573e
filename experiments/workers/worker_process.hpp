// One worker process.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "experiments/workers/frame.hpp"
#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

/// A copy of this process that does one task after another. It ends with this object, and with the parent
/// however that ends. The caller must have no threads that hold locks and no unwritten output.
class WorkerProcess {
 public:
  explicit WorkerProcess(const Work& work);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  void submit(const std::string& task);
  /// Readable once there is something to receive().
  int socket() const { return socket_; }
  /// Takes what arrived: the outcome of the task if that was the last of it, or that the process died.
  std::optional<Outcome> receive();
  /// Asks the system.
  bool is_alive();

 private:
  Outcome bury();

  pid_t process_ = -1;
  int socket_ = -1;
  FrameReader reader_;
};

}  // namespace warpscope::experiments
