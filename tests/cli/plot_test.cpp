// Charts of numbers over numbers.
#include <gtest/gtest.h>

#include "experiments/plot/chart_page.hpp"
#include "experiments/plot/xy_chart.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::experiments {
namespace {

TEST(XyChart, AxisIsLogarithmicForPowersOnly) {
  const auto like_powers = [](std::vector<double> numbers) { return is_like_powers(numbers); };
  EXPECT_TRUE(like_powers({512, 1024, 2048, 4096, 8192}));
  EXPECT_FALSE(like_powers({512, 1024, 2048, 4096})) << "a factor of 8, not more";
  EXPECT_FALSE(like_powers({512, 1024, 1536, 2048, 2560, 3072, 3584, 4096, 4608}));
  EXPECT_FALSE(like_powers({0, 1, 10, 100}));
  EXPECT_FALSE(like_powers({-4, -2, 16}));
  EXPECT_FALSE(like_powers({}));
  EXPECT_TRUE(like_powers({100, 1, 10}));
}

TEST(XyChart, LinesAreSortedAndNamed) {
  const std::vector<XyPoint> points = {{4, 40, "a"}, {1, 10, "a"}, {2, 5, "b"}};
  const LineChart chart = xy_chart("title", "x", "y", points, "");
  ASSERT_EQ(chart.panels.size(), 1U);
  const auto& series = chart.panels[0].series;
  ASSERT_EQ(series.size(), 2U);
  EXPECT_EQ(series[0].name, "a");
  EXPECT_EQ(series[0].points, (std::vector<std::pair<double, double>>{{1, 10}, {4, 40}}));
  EXPECT_NE(series[0].colour, series[1].colour);
  EXPECT_EQ(chart.panels[0].x_ticks, (std::vector<Tick>{{1, "1"}, {2, "2"}, {4, "4"}}));
  EXPECT_TRUE(chart.linear_x);
}

TEST(XyChart, ManyNumbersShareTicks) {
  std::vector<XyPoint> points;
  for (int x = 1; x <= 100; ++x) {
    points.push_back({static_cast<double>(x), 1, ""});
  }
  const LineChart chart = xy_chart("", "", "", points, "");
  ASSERT_EQ(chart.panels[0].x_ticks.size(), 12U);
  EXPECT_EQ(chart.panels[0].x_ticks.front().first, 1);
  EXPECT_EQ(chart.panels[0].x_ticks.back().first, 100);
}

TEST(XyChart, TextEndsNoString) {
  EXPECT_EQ(in_single_quotes("it's\nsystem 'x'"), "'it''s system ''x'''");
}

}  // namespace
}  // namespace warpscope::experiments
