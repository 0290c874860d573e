#include "experiments/workers/workers.hpp"

#include <algorithm>

namespace warpscope::experiments {

void run_tasks(std::span<const Task> tasks, Workers& workers, const TaskDone& done) {
  constexpr std::chrono::milliseconds kLongestWait{1000};
  TaskQueue waiting(tasks);
  std::size_t ended = 0;
  while (ended < tasks.size()) {
    while (!waiting.empty()) {
      const std::vector<int> room = workers.room();
      const auto most = std::ranges::max_element(room);
      if (most == room.end() || *most == 0) {
        break;
      }
      const auto worker = static_cast<std::size_t>(most - room.begin());
      const std::size_t task = waiting.next(worker, room.size());
      workers.submit(worker, task, tasks[task].text);
    }
    for (const Finished& finished : workers.wait(kLongestWait)) {
      done(finished.id, finished.outcome);
      ++ended;
    }
  }
}

}  // namespace warpscope::experiments
