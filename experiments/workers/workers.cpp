#include "experiments/workers/workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "experiments/base/interruption.hpp"

namespace warpscope::experiments {

void run_tasks(std::span<const Task> tasks, Workers& workers, const TaskDone& done) {
  constexpr std::chrono::milliseconds kLongestWait{200};  // until a signal is noticed
  const HeldSignals signals;
  TaskQueue waiting(tasks);
  std::size_t ended = 0;
  while (ended < tasks.size()) {
    if (const std::optional<int> signal = signals.take()) {
      throw Interrupted(*signal, fmt::format("interrupted by SIG{}", ::sigabbrev_np(*signal)));
    }
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
