// Cycles as SystemC time: to the femtosecond, however many.
#include <gtest/gtest.h>

#include "model/sim/simulation_context.hpp"
#include "model/sim/sm_clock.hpp"

namespace warpscope::sim {
namespace {

using sc_core::sc_time;

TEST(SmClock, RoundsEveryEdgeByItself) {
  const SimulationContext context;
  use_femtoseconds();
  const SmClock clock(sc_time(3, sc_core::SC_NS), 1755);
  EXPECT_EQ(clock.time_of(0), sc_time(3, sc_core::SC_NS));
  EXPECT_EQ(clock.time_of(1).value(), 3000000U + 569801U);  // 569800.57 fs
  EXPECT_EQ(clock.time_of(702), sc_time(403, sc_core::SC_NS));
  EXPECT_EQ(clock.time_of(1755000000000), sc_time(1000, sc_core::SC_SEC) + sc_time(3, sc_core::SC_NS));
}

TEST(SmClock, CountsCyclesOfALatency) {
  const SimulationContext context;
  use_femtoseconds();
  const SmClock clock(sc_time(), 1755);
  EXPECT_EQ(clock.cycles_up(sc_time(400, sc_core::SC_NS)), 702);
  EXPECT_EQ(clock.cycles_down(sc_time(400, sc_core::SC_NS)), 702);
  EXPECT_EQ(clock.cycles_up(sc_time(401, sc_core::SC_NS)), 704);
  EXPECT_EQ(clock.cycles_down(sc_time(401, sc_core::SC_NS)), 703);
  EXPECT_EQ(clock.cycles_up(sc_time()), 0);
  for (std::int64_t cycle = 1; cycle < 5000; ++cycle) {
    // A target may count from edge to edge, each of which is rounded.
    const sc_time latency = clock.time_of(cycle + 77) - clock.time_of(77);
    ASSERT_EQ(clock.cycles_up(latency), cycle);
    ASSERT_EQ(clock.cycles_down(latency), cycle);
  }
}

TEST(SmClock, RefusesWhatSystemCCannotCount) {
  const SimulationContext context;
  use_femtoseconds();
  EXPECT_THROW(SmClock(sc_time(), 100).time_of(std::int64_t{1} << 40), std::invalid_argument);
  EXPECT_EQ(SmClock(sc_time(), 1000).time_of(std::int64_t{1} << 40).value(),
            (std::uint64_t{1} << 40) * 1000000);
}

}  // namespace
}  // namespace warpscope::sim
