// Whoever carries out tasks: processes of this machine, or of others.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "experiments/store/outcome.hpp"
#include "experiments/workers/task_queue.hpp"

namespace warpscope::experiments {

/// Does a task, given as a text. An exception says that it could not be done here and now, as Fate::died
/// does; that it never can be is an outcome.
using Work = std::function<Outcome(const std::string& task)>;

/// A task that came to its end.
struct Finished {
  std::size_t id = 0;
  Outcome outcome;
};

class Workers {
 public:
  virtual ~Workers() = default;
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// For each worker the tasks that it would take now. Workers may join, then at the end.
  virtual std::vector<int> room() const = 0;
  /// Hands a task to a worker that has room. Its outcome comes with `id`.
  virtual void submit(std::size_t worker, std::size_t id, const std::string& task) = 0;
  /// Outcomes since the last call; waits for one at most that long.
  virtual std::vector<Finished> wait(std::chrono::milliseconds longest) = 0;
};

using TaskDone = std::function<void(std::size_t task, const Outcome& outcome)>;

/// Runs tasks in the order of a TaskQueue as workers have room, so that all are busy to the end; calls `done`
/// as they end. Throws Interrupted where this process was asked to end.
void run_tasks(std::span<const Task> tasks, Workers& workers, const TaskDone& done);

}  // namespace warpscope::experiments
