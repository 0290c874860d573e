// When all SMs may leave out a part of their CTAs' paths.
#include "model/gpu/path_watch.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <vector>

#include "model/memory/l2.hpp"

namespace warpscope::gpu {
namespace {

constexpr std::int64_t kL2Bytes = 1'000'000;
constexpr sim::Cycles kRoom = 1'000'000'000;

/// Shows a launch to a watch: 100 units of work in each window, from cycle 100 000 on.
class WatchedLaunch {
 public:
  explicit WatchedLaunch(std::int64_t l2_growth = 0) : l2_growth_(l2_growth) {
    progress_.time = 100'000;
    progress_.l2_bytes = 100'000;
  }

  /// The CTAs are in the middle of their paths: nothing ends here but what was left out.
  std::optional<PathOrder> begin(sim::Cycles room = kRoom) { return watch_.observe(progress_, room); }
  std::optional<PathOrder> window(sim::Cycles cycles, sim::Cycles room = kRoom) {
    progress_.time += cycles;
    progress_.work += 100;
    progress_.l2_bytes += l2_growth_;
    progress_.data_path_cycles += 7;
    return watch_.observe(progress_, room);
  }
  void leave_out(sim::Cycles cycles) { progress_.time += cycles; }
  void cta_ends() { watch_.start_anew(); }

 private:
  PathWatch watch_{kL2Bytes};
  Progress progress_;
  std::int64_t l2_growth_;
};

/// What is ordered after the last of these windows, and not before.
std::optional<PathOrder> watch(const std::vector<sim::Cycles>& windows, sim::Cycles room = kRoom,
                               std::int64_t l2_growth = 0) {
  WatchedLaunch launch(l2_growth);
  std::optional<PathOrder> order = launch.begin(room);
  for (std::size_t i = 0; i < windows.size(); ++i) {
    EXPECT_FALSE(order) << "after " << i << " windows";
    order = launch.window(windows[i], room);
  }
  return order;
}

TEST(PathWatch, FourLikeWindowsOpenTwiceTheTimeThatHasPassed) {
  const auto order = watch({10'000, 10'000, 10'000, 10'000});
  ASSERT_TRUE(order);
  EXPECT_EQ(order->cycles, 280'000);
  EXPECT_EQ(order->windows, 4U);
  EXPECT_EQ(order->left_out.part.time, 40'000);
  EXPECT_EQ(order->left_out.part.data_path_cycles, 28);
  EXPECT_EQ(order->windows_since, 100'000);
}

TEST(PathWatch, NoMoreThanThereIsRoomFor) {
  EXPECT_EQ(watch({10'000, 10'000, 10'000, 10'000}, 50'000)->cycles, 50'000);
  EXPECT_EQ(watch({10'000, 10'000, 10'000, 10'000}, 10'000)->cycles, 10'000);
  EXPECT_FALSE(watch({10'000, 10'000, 10'000, 10'000}, 9'999)) << "less than a window";
}

TEST(PathWatch, MeanMustBeKnownWithinSevenTenthsOfAPercent) {
  // Standard errors of 0.684 % and 0.702 % of the mean.
  EXPECT_TRUE(watch({10'000, 10'200, 10'000, 10'270}));
  EXPECT_FALSE(watch({10'000, 10'200, 10'000, 10'280}));
}

TEST(PathWatch, OldWindowsThatWereUnlikeTheLastAreForgotten) {
  const auto order = watch({20'000, 10'000, 10'000, 10'000, 10'000});
  ASSERT_TRUE(order);
  EXPECT_EQ(order->windows, 4U);
  EXPECT_EQ(order->left_out.part.time, 40'000);
}

TEST(PathWatch, NoMoreThanTwelveWindowsStandForWhatIsLeftOut) {
  WatchedLaunch launch;
  launch.begin(0);
  for (int i = 0; i < 20; ++i) {
    ASSERT_FALSE(launch.window(10'000, 0)) << "no room";
  }
  const auto order = launch.window(10'000);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->windows, 12U);
  EXPECT_EQ(order->left_out.part.time, 120'000);
}

TEST(PathWatch, WaitsUntilTheLoadOfTheMemoryIsKnown) {
  PathWatch path_watch(kL2Bytes);
  Progress progress;
  int windows = 0;
  std::optional<PathOrder> order;
  for (; !order && windows < 20; ++windows) {
    order = path_watch.observe(progress, kRoom);
    progress.time += 10'000;
    progress.work += 100;
  }
  static_assert(memory::kLoadSettledCycles == 49'152);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->windows_since, 50'000);
  EXPECT_EQ(order->cycles, 180'000);
}

// 100 000 bytes are held; 990 000 count as full. Seven times the four windows lie ahead.
TEST(PathWatch, WaitsWhileTheL2FillsUp) {
  const std::vector<sim::Cycles> windows(4, 10'000);
  EXPECT_TRUE(watch(windows, kRoom, 27'812)) << "not full at the end";
  EXPECT_FALSE(watch(windows, kRoom, 27'813)) << "it would be full on the way";
  EXPECT_FALSE(watch(windows, kRoom, 222'499));
  EXPECT_TRUE(watch(windows, kRoom, 222'500)) << "full already";
}

TEST(PathWatch, WindowsFromBeforeWhatWasLeftOutCountFurther) {
  WatchedLaunch launch;
  launch.begin();
  std::optional<PathOrder> order;
  for (int i = 0; i < 4; ++i) {
    order = launch.window(10'000);
  }
  ASSERT_TRUE(order);
  launch.leave_out(order->cycles);
  EXPECT_FALSE(launch.begin()) << "nothing was executed since";
  order = launch.window(10'000);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->windows, 5U);
  EXPECT_EQ(order->windows_since, 420'000);
  EXPECT_EQ(order->cycles, 860'000);
  EXPECT_EQ(order->left_out.part.time, 50'000) << "without what was left out";
}

TEST(PathWatch, StartsAnewWhenCtasComeOrGo) {
  WatchedLaunch launch;
  launch.begin();
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(launch.window(10'000));
  }
  launch.cta_ends();
  EXPECT_FALSE(launch.window(10'000)) << "no window: it begins here";
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(launch.window(10'000));
  }
  const auto order = launch.window(10'000);
  ASSERT_TRUE(order);
  EXPECT_EQ(order->windows, 4U);
  EXPECT_EQ(order->windows_since, 140'000);
}

}  // namespace
}  // namespace warpscope::gpu
