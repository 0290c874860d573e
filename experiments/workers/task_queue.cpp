#include "experiments/workers/task_queue.hpp"

#include <algorithm>

namespace warpscope::experiments {

TaskQueue::TaskQueue(std::span<const Task> tasks) {
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    Family& family = families_[tasks[task].family];
    family.push_back(task);
    family_of_task_.push_back(&family);
    waiting_.insert(task);
  }
}

std::size_t TaskQueue::next(std::size_t worker, std::size_t workers) {
  Family*& family = begun_[worker];
  if (family_of_task_.size() < kTasksPerWorker * workers) {
    family = family_of_task_[*waiting_.begin()];
  } else if (family == nullptr || family->empty()) {
    family = first_family();
  }
  const std::size_t task = family->front();
  family->pop_front();
  waiting_.erase(task);
  return task;
}

bool TaskQueue::is_begun(const Family* family) const {
  return std::ranges::any_of(begun_, [&](const auto& worker) { return worker.second == family; });
}

TaskQueue::Family* TaskQueue::first_family() const {
  // Past tasks of families that others have begun: at most one for each worker.
  const auto fresh =
      std::ranges::find_if(waiting_, [&](std::size_t task) { return !is_begun(family_of_task_[task]); });
  return family_of_task_[fresh == waiting_.end() ? *waiting_.begin() : *fresh];
}

}  // namespace warpscope::experiments
