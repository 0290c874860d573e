// One worker process.
#pragma once

#include <sys/types.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <string>

#include "experiments/workers/frame.hpp"
#include "experiments/workers/pool_options.hpp"
#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

/// A copy of this process that does one task after another: it knows what this process knew when it was
/// made, which a program that is started anew would have to read again. It ends with this object, and with
/// the parent however that ends. The caller must have no threads that hold locks and no unwritten output.
class WorkerProcess {
 public:
  using TaskEnded = std::function<void(Outcome outcome)>;

  WorkerProcess(boost::asio::io_context& events, const Work& work, const TaskLimits& limits);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Calls `ended`, from a handler of the events, once the task is done or the process has died over it. One
  /// task at a time.
  void submit(const std::string& task, TaskEnded ended);
  /// Asks the system.
  bool is_alive();

 private:
  void receive_outcome();
  void end(Outcome outcome);
  Outcome bury();

  TaskLimits limits_;
  Socket socket_;
  boost::asio::steady_timer deadline_;
  FrameHeader header_;
  std::string text_;  ///< of the frame that is being received
  TaskEnded ended_;
  bool out_of_time_ = false;
  pid_t process_ = -1;
};

}  // namespace warpscope::experiments
