// Jobs spread over worker processes.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace warpscope::experiments {

/// What became of one job: its result, or why there is none.
struct JobOutcome {
  bool ok = false;
  std::string text;  ///< the result, or one line with the reason
};

using Job = std::function<std::string(std::size_t index)>;
using JobDone = std::function<void(std::size_t index, JobOutcome outcome)>;

/// Runs job(0) .. job(count - 1), each in a process of its own, at most `workers` at a time; `done` is called
/// in this process, in the order in which jobs end. An exception of a job, or its death, is its outcome and
/// harms no other. The caller must have no threads and hold no unwritten output that a child could repeat.
void run_in_processes(std::size_t count, int workers, const Job& job, const JobDone& done);

/// Processors that this process may use.
int default_workers();

}  // namespace warpscope::experiments
