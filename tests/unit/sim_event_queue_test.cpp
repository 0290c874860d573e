// The total order of events, and several SystemC simulations in one process.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

#include "model/sim/event_queue.hpp"
#include "model/sim/simulation_context.hpp"

namespace warpscope::sim {
namespace {

TEST(EventQueue, EarlierEventsComeFirst) {
  EventQueue<int> queue;
  for (const int time : {5, 1, 3, 2, 4}) {
    queue.push(time, 0, time * 10);
  }
  for (int time = 1; time <= 5; ++time) {
    EXPECT_EQ(queue.top().time, time);
    EXPECT_EQ(queue.pop().payload, time * 10);
  }
  EXPECT_TRUE(queue.empty());
}

TEST(EventQueue, LowerPriorityNumberComesFirstAtEqualTimes) {
  EventQueue<char> queue;
  queue.push(7, 2, 'c');
  queue.push(7, 0, 'a');
  queue.push(7, 1, 'b');
  EXPECT_EQ(queue.pop().payload, 'a');
  EXPECT_EQ(queue.pop().payload, 'b');
  EXPECT_EQ(queue.pop().payload, 'c');
}

TEST(EventQueue, FirstComeFirstServedAmongEquals) {
  EventQueue<int> queue;
  for (int i = 0; i < 1000; ++i) {
    queue.push(7, 1, i);
  }
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(queue.pop().payload, i);
  }
}

TEST(EventQueue, OrderIsThatOfTimePriorityInsertionWhateverIsPushedBetween) {
  std::mt19937 random(1);
  EventQueue<int> queue;
  std::vector<std::tuple<Cycles, int, int>> pending;
  for (int i = 0; i < 20000; ++i) {
    if (pending.empty() || random() % 2 == 0) {
      const auto time = static_cast<Cycles>(random() % 8);
      const auto priority = static_cast<int>(random() % 3);
      queue.push(time, priority, i);
      pending.emplace_back(time, priority, i);
    } else {
      const auto first = std::ranges::min_element(pending);
      const auto event = queue.pop();
      ASSERT_EQ(std::tuple(event.time, event.priority, event.payload), *first);
      pending.erase(first);
    }
  }
}

struct Counter : sc_core::sc_module {
  SC_HAS_PROCESS(Counter);
  explicit Counter(const sc_core::sc_module_name& name) : sc_module(name) { SC_METHOD(count); }
  void count() {
    ++counted;
    next_trigger(1, sc_core::SC_NS);
  }
  int counted = 0;
};

TEST(SimulationContext, GivesEverySimulationItsOwnTimeAndNames) {
  for (int i = 0; i < 3; ++i) {
    SimulationContext context;
    Counter counter("counter");
    EXPECT_STREQ(counter.name(), "counter") << "and not counter_0";
    sc_core::sc_start(10.5, sc_core::SC_NS);
    EXPECT_EQ(counter.counted, 11);
    EXPECT_EQ(sc_core::sc_time_stamp(), sc_core::sc_time(10.5, sc_core::SC_NS));
  }
}

TEST(SimulationContext, IsGoneAfterwards) {
  sc_core::sc_simcontext* const before = sc_core::sc_curr_simcontext;
  {
    SimulationContext context;
    EXPECT_NE(sc_core::sc_curr_simcontext, before);
  }
  EXPECT_EQ(sc_core::sc_curr_simcontext, before);
}

TEST(SimulationContext, SurvivesASimulationThatFailed) {
  struct Failing : sc_core::sc_module {
    SC_HAS_PROCESS(Failing);
    explicit Failing(const sc_core::sc_module_name& name) : sc_module(name) { SC_METHOD(fail); }
    void fail() { SC_REPORT_ERROR("test", "fails on purpose"); }
  };
  {
    SimulationContext context;
    Failing failing("failing");
    EXPECT_THROW(sc_core::sc_start(), sc_core::sc_report);
  }
  SimulationContext context;
  Counter counter("counter");
  sc_core::sc_start(2.5, sc_core::SC_NS);
  EXPECT_EQ(counter.counted, 3);
}

}  // namespace
}  // namespace warpscope::sim
