#include "experiments/workers/worker_pool.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "experiments/base/interruption.hpp"

namespace warpscope::experiments {
namespace {

Outcome done(const std::string& text) {
  return {Fate::done, text};
}

std::vector<Task> unrelated(const std::vector<std::string>& texts) {
  std::vector<Task> tasks;
  tasks.reserve(texts.size());
  for (const std::string& text : texts) {
    tasks.push_back({text, std::to_string(tasks.size())});
  }
  return tasks;
}

std::vector<Outcome> outcomes(const std::vector<std::string>& tasks, int workers, const Work& work) {
  std::vector<Outcome> result(tasks.size());
  WorkerPool pool(work, {workers, {}});
  run_tasks(unrelated(tasks), pool, [&](std::size_t task, const Outcome& outcome) {
    EXPECT_EQ(result[task].text, "") << "task " << task << " ended twice";
    result[task] = outcome;
  });
  return result;
}

TEST(WorkerPool, ReturnsTheResultOfEachTask) {
  const std::vector<std::string> tasks = {"a", "", "c", "d", "e", "f", "g"};
  for (const int workers : {1, 3, 50}) {
    const auto results =
        outcomes(tasks, workers, [](const std::string& task) { return done("<" + task + ">"); });
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i], (Outcome{Fate::done, "<" + tasks[i] + ">"}));
    }
  }
}

TEST(WorkerPool, KeepsItsProcesses) {
  const std::vector<std::string> tasks(50);
  std::set<std::string> processes;
  for (const Outcome& outcome :
       outcomes(tasks, 2, [](const std::string&) { return done(std::to_string(::getpid())); })) {
    processes.insert(outcome.text);
  }
  EXPECT_LE(processes.size(), 2U);
  EXPECT_FALSE(processes.contains(std::to_string(::getpid())));
}

/// Numbers that processes share which are forked later, all zero.
class SharedCounts {
 public:
  SharedCounts()
      : counts_(static_cast<std::atomic<int>*>(::mmap(nullptr, 3 * sizeof(std::atomic<int>),
                                                      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
                                                      0))) {}
  ~SharedCounts() { ::munmap(counts_, 3 * sizeof(std::atomic<int>)); }
  SharedCounts(const SharedCounts&) = delete;
  SharedCounts& operator=(const SharedCounts&) = delete;

  /// Counts one more of a kind and returns when there are as many of the other, or after some seconds, and
  /// then never waits again: a test fails then and does not hang.
  void keep_in_step(int kind) const {
    constexpr int kLooks = 20'000;
    std::atomic<int>& has_given_up = counts_[2];
    const int begun = ++counts_[kind];
    for (int looks = 0; has_given_up == 0 && counts_[1 - kind] < begun; ++looks) {
      ::usleep(100);
      if (looks >= kLooks) {
        has_given_up = 1;
      }
    }
  }

 private:
  std::atomic<int>* counts_;
};

TEST(WorkerPool, DoesTheTasksOfAFamilyInOneProcess) {
  const SharedCounts counts;
  std::vector<Task> tasks(40);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    tasks[i] = {std::to_string(i % 2), i % 2 == 0 ? "even" : "odd"};
  }
  const Work work = [&](const std::string& kind) {
    counts.keep_in_step(std::stoi(kind));  // or one that begins late would find its family's tasks done
    return done(std::to_string(::getpid()));
  };
  WorkerPool pool(work, {2, {}});
  std::vector<std::string> process(tasks.size());
  run_tasks(tasks, pool, [&](std::size_t task, const Outcome& outcome) { process[task] = outcome.text; });
  EXPECT_NE(process[0], process[1]);
  for (std::size_t i = 2; i < tasks.size(); ++i) {
    EXPECT_EQ(process[i], process[i % 2]) << i;
  }
}

TEST(WorkerPool, CarriesTextsLargerThanASocketHolds) {
  const std::string large(3000000, 'x');
  const auto results = outcomes({large, large}, 2, [](const std::string& task) { return done(task + '.'); });
  EXPECT_EQ(results[0].text, large + '.');
  EXPECT_EQ(results[1].text, large + '.');
}

TEST(WorkerPool, ATaskThatFailsOrDiesHarmsNoOther) {
  const auto results =
      outcomes({"no", "fail", "kill", "exit", "memory", "fine"}, 2, [](const std::string& task) -> Outcome {
        if (task == "no") {
          return {Fate::refused, "it never can be"};
        }
        if (task == "fail") {
          throw std::runtime_error("no such thing");
        }
        if (task == "kill") {
          ::kill(::getpid(), SIGKILL);
        }
        if (task == "exit") {
          ::_exit(7);
        }
        if (task == "memory") {
          throw std::bad_alloc();
        }
        return done(task);
      });
  EXPECT_EQ(results[0], (Outcome{Fate::refused, "it never can be"}));
  EXPECT_EQ(results[1], (Outcome{Fate::died, "no such thing"}));
  EXPECT_EQ(results[2], (Outcome{Fate::died, "the worker process was ended by signal 9 (Killed)"}));
  EXPECT_EQ(results[3], (Outcome{Fate::died, "the worker process ended early with status 7"}));
  EXPECT_EQ(results[4], (Outcome{Fate::died, "out of memory"}));
  EXPECT_EQ(results[5], (Outcome{Fate::done, "fine"}));
}

TEST(WorkerPool, AWorkerThatDiesIdleCostsNothing) {
  WorkerPool pool([](const std::string&) { return done(std::to_string(::getpid())); }, {1, {}});
  const std::vector<Task> tasks(1);
  std::string first;
  run_tasks(tasks, pool, [&](std::size_t, const Outcome& outcome) { first = outcome.text; });
  const int worker = std::stoi(first);
  ::kill(worker, SIGKILL);
  siginfo_t ended;
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(worker), &ended, WEXITED | WNOWAIT), 0)
      << "left to the pool to reap";
  Outcome second;
  run_tasks(tasks, pool, [&](std::size_t, const Outcome& outcome) { second = outcome; });
  EXPECT_EQ(second.fate, Fate::done);
  EXPECT_NE(second.text, first);
}

TEST(WorkerPool, EndsATaskThatTakesTooLong) {
  const Work work = [](const std::string& task) {
    if (task == "slow") {
      ::pause();
    }
    return done(task);
  };
  WorkerPool pool(work, {2, {std::chrono::milliseconds(200), {}}});
  std::vector<Outcome> results(5);
  run_tasks(unrelated({"slow", "a", "slow", "b", "c"}), pool,
            [&](std::size_t task, const Outcome& outcome) { results[task] = outcome; });
  const Outcome late{Fate::died, "took longer than the time limit of 0.2 s"};
  EXPECT_EQ(results, (std::vector{late, done("a"), late, done("b"), done("c")}));
}

TEST(WorkerPool, EndsATaskThatNeedsTooMuchMemory) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizer needs more memory than any limit allows";
#endif
  const Work work = [](const std::string& task) {
    const std::vector<char> memory(std::stoul(task), 'x');
    return done(std::to_string(memory.size()));
  };
  constexpr std::uint64_t kMebibyte = 1 << 20;
  WorkerPool pool(work, {1, {{}, 100 * kMebibyte}});
  std::vector<Outcome> results(2);
  run_tasks(unrelated({std::to_string(200 * kMebibyte), "1000"}), pool,
            [&](std::size_t task, const Outcome& outcome) { results[task] = outcome; });
  EXPECT_EQ(results[0], (Outcome{Fate::died, "needs more than the memory limit of 100 MiB"}));
  EXPECT_EQ(results[1], done("1000"));
}

TEST(WorkerPool, ASignalIsAnExceptionAndHarmsNoWorker) {
  const Work work = [](const std::string&) {
    ::kill(::getppid(), SIGTERM);
    ::kill(::getpid(), SIGTERM);  // held: what a signal means is for the parent to decide
    return done("alive");
  };
  WorkerPool pool(work, {1, {}});
  std::vector<Outcome> results;
  try {
    run_tasks(unrelated({"a", "b"}), pool,
              [&](std::size_t, const Outcome& outcome) { results.push_back(outcome); });
    ADD_FAILURE() << "not interrupted";
  } catch (const Interrupted& interrupted) {
    EXPECT_EQ(interrupted.signal(), SIGTERM);
    EXPECT_STREQ(interrupted.what(), "interrupted by SIGTERM");
  }
  EXPECT_EQ(results, std::vector{done("alive")});
}

TEST(WorkerPool, HasNothingToDoWithoutTasks) {
  EXPECT_TRUE(outcomes({}, 4, [](const std::string&) { return done(""); }).empty());
}

}  // namespace
}  // namespace warpscope::experiments
