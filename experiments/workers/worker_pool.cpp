#include "experiments/workers/worker_pool.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

namespace warpscope::experiments {

WorkerPool::WorkerPool(Work work, const PoolOptions& options)
    : work_(std::move(work)),
      limits_(options.limits),
      events_(1),  // one thread
      keep_waiting_(events_.get_executor()),
      places_(static_cast<std::size_t>(std::max(options.processes, 1))) {}

void WorkerPool::start() {
  for (Place& place : places_) {
    place.process = new_process();
  }
}

std::vector<int> WorkerPool::room() const {
  std::vector<int> room;
  for (const Place& place : places_) {
    room.push_back(place.busy ? 0 : 1);
  }
  return room;
}

void WorkerPool::submit(std::size_t worker, std::size_t id, const std::string& task) {
  Place& place = places_[worker];
  if (!place.process || !place.process->is_alive()) {
    place.process = new_process();
  }
  place.busy = true;
  place.process->submit(task, [this, &place, id](Outcome outcome) {
    place.busy = false;
    finished_.push_back({id, std::move(outcome)});
  });
}

std::vector<Finished> WorkerPool::wait(std::chrono::milliseconds longest) {
  const auto end = std::chrono::steady_clock::now() + longest;
  while (finished_.empty() && events_.run_one_until(end) > 0) {
  }
  events_.poll();
  return std::exchange(finished_, {});
}

int default_workers() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? std::max(1, CPU_COUNT(&allowed)) : 1;
}

}  // namespace warpscope::experiments
