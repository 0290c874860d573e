// Counters of an SM that stand for more than was executed.
#include <gtest/gtest.h>

#include "model/sm/sm_core.hpp"

namespace warpscope::sm {
namespace {

constexpr auto kSelected = static_cast<std::size_t>(metrics::Stall::selected);

TEST(SmCounters, PartsAddUpToTheWholeWhateverIsRounded) {
  SmCounters measured;
  measured.stall_warp_cycles[kSelected] = 7;
  measured.pipe_busy_cycles[0] = -3;
  SmCounters sum;
  constexpr double kTimes = 2.5;
  double before = 0;
  for (const double part : {0.1, 0.2, 0.33, 0.7, 1.0}) {
    sum.add_times(measured, kTimes * part, kTimes * before);
    before = part;
  }
  EXPECT_EQ(sum.issued(), 18U) << "17.5, and not the sum of five rounded parts";
  EXPECT_EQ(sum.pipe_busy_cycles[0], -8);
}

}  // namespace
}  // namespace warpscope::sm
