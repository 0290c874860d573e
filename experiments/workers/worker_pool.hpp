// Worker processes of this machine.
#pragma once

#include <memory>
#include <vector>

#include "experiments/workers/worker_process.hpp"
#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

/// Up to `size` processes, started when there is something to do. One that dies costs the task it was at, and
/// the next task gets a new one.
class WorkerPool : public Workers {
 public:
  WorkerPool(Work work, int size);
  /// Starts all processes now.
  void start();

  std::vector<int> room() const override;
  void submit(std::size_t worker, std::size_t id, const std::string& task) override;
  std::vector<Finished> wait(std::chrono::milliseconds longest) override;

 private:
  struct Place {
    std::unique_ptr<WorkerProcess> process;  ///< empty until it is needed
    bool busy = false;
    std::size_t id = 0;  ///< of its task
  };

  Work work_;
  std::vector<Place> places_;
};

/// Processors that this process may use.
int default_workers();

}  // namespace warpscope::experiments
