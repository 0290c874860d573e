#include "experiments/base/worker_pool.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <stdexcept>
#include <vector>

namespace warpscope::experiments {
namespace {

std::vector<JobOutcome> outcomes(std::size_t count, int workers, const Job& job) {
  std::vector<JobOutcome> result(count);
  run_in_processes(count, workers, job, [&](std::size_t index, JobOutcome outcome) {
    EXPECT_EQ(result[index].text, "") << "job " << index << " ended twice";
    result[index] = std::move(outcome);
  });
  return result;
}

TEST(WorkerPool, ReturnsTheResultOfEachJob) {
  for (const int workers : {1, 3, 50}) {
    const auto results = outcomes(20, workers, [](std::size_t index) { return std::to_string(index); });
    for (std::size_t i = 0; i < results.size(); ++i) {
      EXPECT_TRUE(results[i].ok);
      EXPECT_EQ(results[i].text, std::to_string(i));
    }
  }
}

TEST(WorkerPool, CarriesResultsLargerThanAPipeHolds) {
  const auto results = outcomes(2, 2, [](std::size_t) { return std::string(3000000, 'x'); });
  EXPECT_EQ(results[0].text.size(), 3000000U);
  EXPECT_EQ(results[1].text.size(), 3000000U);
}

TEST(WorkerPool, AJobThatFailsOrDiesHarmsNoOther) {
  const auto results = outcomes(4, 2, [](std::size_t index) -> std::string {
    if (index == 0) {
      throw std::runtime_error("no such thing");
    }
    if (index == 1) {
      ::kill(::getpid(), SIGKILL);
    }
    if (index == 2) {
      ::_exit(7);
    }
    return "fine";
  });
  EXPECT_FALSE(results[0].ok);
  EXPECT_EQ(results[0].text, "no such thing");
  EXPECT_FALSE(results[1].ok);
  EXPECT_EQ(results[1].text, "the worker process was ended by signal 9 (Killed)");
  EXPECT_FALSE(results[2].ok);
  EXPECT_EQ(results[2].text, "the worker process ended early with status 7");
  EXPECT_TRUE(results[3].ok);
}

TEST(WorkerPool, HasNothingToDoWithoutJobs) {
  EXPECT_TRUE(outcomes(0, 4, [](std::size_t) { return ""; }).empty());
}

}  // namespace
}  // namespace warpscope::experiments
