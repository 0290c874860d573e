// Which task a worker gets next.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace warpscope::experiments {

/// A text, and the family of tasks that it belongs to: what a worker remembers of one task of a family makes
/// it faster at the others.
struct Task {
  std::string text;
  std::string family;
};

/// Hands out tasks in their order, but each worker goes on with the family that it began. So a family is
/// divided between workers only when nothing else is left, and no worker is idle while tasks wait.
class TaskQueue {
 public:
  /// With fewer tasks for each worker families are not kept together: all would wait in the end for the one
  /// that has the longest family.
  static constexpr std::size_t kTasksPerWorker = 12;

  explicit TaskQueue(std::span<const Task> tasks);

  bool empty() const { return waiting_.empty(); }
  /// Takes a task for `worker`, one of `workers`; the result is its place among all tasks. The queue must not
  /// be empty.
  std::size_t next(std::size_t worker, std::size_t workers);

 private:
  using Family = std::deque<std::size_t>;  // its waiting tasks, in their order

  bool is_begun(const Family* family) const;
  /// A family that nobody has begun if there is one, in the order of tasks.
  Family* first_family() const;

  std::map<std::string, Family> families_;
  std::vector<Family*> family_of_task_;
  std::set<std::size_t> waiting_;
  std::map<std::size_t, Family*> begun_;  ///< by worker: the family of its last task
};

}  // namespace warpscope::experiments
