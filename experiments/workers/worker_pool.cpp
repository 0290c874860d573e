#include "experiments/workers/worker_pool.hpp"

#include <poll.h>
#include <sched.h>

#include <algorithm>

namespace warpscope::experiments {

WorkerPool::WorkerPool(Work work, int size)
    : work_(std::move(work)), places_(static_cast<std::size_t>(std::max(size, 1))) {}

void WorkerPool::start() {
  for (Place& place : places_) {
    place.process = std::make_unique<WorkerProcess>(work_);
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
    place.process = std::make_unique<WorkerProcess>(work_);
  }
  place.busy = true;
  place.id = id;
  place.process->submit(task);
}

std::vector<Finished> WorkerPool::wait(std::chrono::milliseconds longest) {
  std::vector<pollfd> sockets;
  for (const Place& place : places_) {
    // poll() passes over negative descriptors: an idle worker has nothing to say.
    sockets.push_back({place.busy ? place.process->socket() : -1, POLLIN, 0});
  }
  std::vector<Finished> finished;
  if (::poll(sockets.data(), sockets.size(), static_cast<int>(longest.count())) <= 0) {
    return finished;
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = places_[i];
    if (sockets[i].revents == 0) {
      continue;
    }
    if (std::optional<Outcome> outcome = place.process->receive()) {
      finished.push_back({place.id, *std::move(outcome)});
      place.busy = false;
    }
  }
  return finished;
}

int default_workers() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  return ::sched_getaffinity(0, sizeof(allowed), &allowed) == 0 ? std::max(1, CPU_COUNT(&allowed)) : 1;
}

}  // namespace warpscope::experiments
