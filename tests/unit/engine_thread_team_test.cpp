// Host threads that do one thing together.
#include "model/engine/thread_team.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

namespace warpscope::engine {
namespace {

TEST(ThreadTeam, EachThreadIsCalledOnce) {
  for (const int threads : {1, 2, 5}) {
    ThreadTeam team(threads);
    EXPECT_EQ(team.size(), threads);
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(threads));
    for (int round = 0; round < 100; ++round) {
      team.run([&](int thread) { ++calls[static_cast<std::size_t>(thread)]; });
    }
    for (const std::atomic<int>& count : calls) {
      EXPECT_EQ(count, 100);
    }
  }
}

TEST(ThreadTeam, EachNumberIsTakenOnce) {
  ThreadTeam team(3);
  for (const int count : {0, 1, 3, 4, 5, 1000}) {
    std::vector<std::atomic<int>> taken(1000);
    team.for_each(count, [&](int number) { ++taken[static_cast<std::size_t>(number)]; });
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(taken[static_cast<std::size_t>(i)], i < count ? 1 : 0) << count << " " << i;
    }
  }
}

TEST(ThreadTeam, ThrowsWhatOneThrowsAndGoesOnAfterwards) {
  ThreadTeam team(3);
  for (const int thrower : {0, 1, 2}) {
    std::atomic<int> calls = 0;
    std::string message;
    try {
      team.run([&](int thread) {
        ++calls;
        if (thread == thrower) {
          throw std::runtime_error("from " + std::to_string(thread));
        }
      });
    } catch (const std::runtime_error& error) {
      message = error.what();
    }
    EXPECT_EQ(message, "from " + std::to_string(thrower));
    EXPECT_EQ(calls, 3) << "the others have come to their end";
  }
  std::atomic<int> calls = 0;
  team.run([&](int /*thread*/) { ++calls; });
  EXPECT_EQ(calls, 3);
}

}  // namespace
}  // namespace warpscope::engine
