#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {

void run_tasks(std::span<const std::string> tasks, Workers& workers, const TaskDone& done) {
  constexpr std::chrono::milliseconds kLongestWait{1000};
  std::size_t next = 0;
  std::size_t ended = 0;
  while (ended < tasks.size()) {
    while (next < tasks.size() && workers.has_room()) {
      workers.submit(next, tasks[next]);
      ++next;
    }
    for (const Finished& finished : workers.wait(kLongestWait)) {
      done(finished.id, finished.outcome);
      ++ended;
    }
  }
}

}  // namespace warpscope::experiments
