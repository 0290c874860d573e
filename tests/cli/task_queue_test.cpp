// Which worker does which task: related ones on one worker, nobody idle.
#include "experiments/workers/task_queue.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/workers/workers.hpp"

namespace warpscope::experiments {
namespace {

std::vector<Task> tasks(const std::vector<std::string>& families) {
  std::vector<Task> result;
  result.reserve(families.size());
  for (const std::string& family : families) {
    result.push_back({"text", family});
  }
  return result;
}

/// Fills up to so many tasks that two workers keep families together.
std::vector<Task> enough_tasks(std::vector<std::string> families) {
  while (families.size() < 2 * TaskQueue::kTasksPerWorker) {
    families.push_back("alone " + std::to_string(families.size()));
  }
  return tasks(families);
}

TEST(TaskQueue, KeepsTheOrderWhereNothingIsRelated) {
  const std::vector<Task> all = enough_tasks({});
  TaskQueue queue(all);
  for (std::size_t task = 0; task < all.size(); ++task) {
    EXPECT_EQ(queue.next(task % 3 % 2, 2), task);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(TaskQueue, AWorkerGoesOnWithItsFamily) {
  const std::vector<Task> all = enough_tasks({"a", "b", "c", "b", "a", "a"});
  TaskQueue queue(all);
  EXPECT_EQ(queue.next(0, 2), 0U);
  EXPECT_EQ(queue.next(1, 2), 1U);
  EXPECT_EQ(queue.next(0, 2), 4U);
  EXPECT_EQ(queue.next(1, 2), 3U);
  EXPECT_EQ(queue.next(1, 2), 2U);  // rather than the family of worker 0
  EXPECT_EQ(queue.next(0, 2), 5U);
}

TEST(TaskQueue, AWorkerBeginsAFamilyThatNobodyHasBegun) {
  const std::vector<Task> all = enough_tasks({"a", "a", "b", "b"});
  TaskQueue queue(all);
  EXPECT_EQ(queue.next(0, 2), 0U);
  EXPECT_EQ(queue.next(1, 2), 2U);
  EXPECT_EQ(queue.next(1, 2), 3U);
  EXPECT_EQ(queue.next(0, 2), 1U);
}

TEST(TaskQueue, AFamilyIsDividedWhereNothingElseIsLeft) {
  const std::vector<Task> all(2 * TaskQueue::kTasksPerWorker, Task{"text", "a"});
  TaskQueue queue(all);
  for (std::size_t task = 0; task < all.size(); ++task) {
    EXPECT_EQ(queue.next(task % 2, 2), task);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(TaskQueue, FewTasksGoOutInTheirOrder) {
  const std::vector<Task> all = enough_tasks({"a", "a", "b", "b"});
  TaskQueue queue(all);
  EXPECT_EQ(queue.next(0, 3), 0U);
  EXPECT_EQ(queue.next(1, 3), 1U);
  EXPECT_EQ(queue.next(1, 3), 2U);
  EXPECT_EQ(queue.next(0, 3), 3U);
}

/// Workers that do a task for as many waits as its text is long.
class FakeWorkers : public Workers {
 public:
  explicit FakeWorkers(std::size_t size, int most = 1) : given_(size), most_(most) {}

  std::vector<int> room() const override {
    std::vector<int> room;
    for (const auto& given : given_) {
      room.push_back(most_ - static_cast<int>(given.size()));
    }
    return room;
  }
  void submit(std::size_t worker, std::size_t id, const std::string& task) override {
    ASSERT_LT(given_.at(worker).size(), static_cast<std::size_t>(most_)) << "no room";
    given_[worker].push_back({id, task.size()});
    done_by[id] = worker;
  }
  std::vector<Finished> wait(std::chrono::milliseconds /*longest*/) override {
    ++waits;
    std::vector<Finished> finished;
    for (auto& given : given_) {
      idle += given.empty() ? 1 : 0;
      if (!given.empty() && --given.front().left == 0) {
        finished.push_back({given.front().id, {Fate::done, "done"}});
        given.erase(given.begin());
      }
    }
    return finished;
  }

  std::map<std::size_t, std::size_t> done_by;  ///< worker by task
  int waits = 0;
  int idle = 0;  ///< sum over waits of workers without a task

 private:
  struct Given {
    std::size_t id = 0;
    std::size_t left = 0;
  };
  std::vector<std::vector<Given>> given_;
  int most_;
};

TEST(RunTasks, EndsEachTaskOnceAndKeepsFamiliesTogether) {
  for (const int room : {1, 2}) {
    // Families of four; in the order of tasks the members of one lie apart.
    std::vector<Task> all;
    for (std::size_t i = 0; i < 48; ++i) {
      all.push_back({std::string(1 + i % 5, 'x'), std::string(1, static_cast<char>('a' + i % 12))});
    }
    FakeWorkers workers(3, room);
    std::vector<int> ended(all.size());
    run_tasks(all, workers, [&](std::size_t task, const Outcome&) { ++ended[task]; });
    EXPECT_EQ(std::ranges::count(ended, 1), 48);
    int divided = 0;
    for (std::size_t family = 0; family < 12; ++family) {
      std::set<std::size_t> hands;
      for (std::size_t task = family; task < all.size(); task += 12) {
        hands.insert(workers.done_by.at(task));
      }
      divided += hands.size() > 1 ? 1 : 0;
    }
    EXPECT_LE(divided, 2) << "only the last ones may be";
  }
}

TEST(RunTasks, NobodyIsIdleWhileTasksWait) {
  std::vector<Task> all(40, Task{"xxxx", "one family"});
  FakeWorkers workers(4);
  run_tasks(all, workers, [](std::size_t, const Outcome&) {});
  EXPECT_EQ(workers.waits, 40);
  EXPECT_EQ(workers.idle, 0);
}

TEST(RunTasks, WaitsForWorkersToJoin) {
  /// Nobody is there before the first wait.
  class LateWorkers : public FakeWorkers {
   public:
    LateWorkers() : FakeWorkers(1) {}
    std::vector<int> room() const override { return waits == 0 ? std::vector<int>{} : FakeWorkers::room(); }
  };
  LateWorkers workers;
  int ended = 0;
  run_tasks(tasks({"a", "b"}), workers, [&](std::size_t, const Outcome&) { ++ended; });
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace warpscope::experiments
