// Worker processes of this machine.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <vector>

#include "experiments/workers/pool_options.hpp"
#include "experiments/workers/worker_process.hpp"
#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

/// Up to so many processes, started when there is something to do. One that dies costs the task it was at,
/// and the next task gets a new one.
class WorkerPool : public Workers {
 public:
  WorkerPool(Work work, const PoolOptions& options);
  /// Starts all processes now.
  void start();

  std::vector<int> room() const override;
  void submit(std::size_t worker, std::size_t id, const std::string& task) override;
  std::vector<Finished> wait(std::chrono::milliseconds longest) override;

 private:
  struct Place {
    std::unique_ptr<WorkerProcess> process;  ///< empty until it is needed
    bool busy = false;
  };

  std::unique_ptr<WorkerProcess> new_process() {
    return std::make_unique<WorkerProcess>(events_, work_, limits_);
  }

  Work work_;
  TaskLimits limits_;
  boost::asio::io_context events_;
  /// Without it a wait would return at once while all workers are idle.
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> keep_waiting_;
  std::vector<Finished> finished_;
  std::vector<Place> places_;
};

/// Processors that this process may use.
int default_workers();

}  // namespace warpscope::experiments
