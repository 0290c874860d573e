// Charts of numbers over numbers.
#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

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

TEST(ChartPage, LegendGoesOnInAnotherLine) {
  const LegendEntry entry{"fourteen signs", "#ffffff", "#000000"};
  EXPECT_EQ(legend_lines({}), 1);
  EXPECT_EQ(legend_lines(std::vector<LegendEntry>(8, entry)), 1);
  EXPECT_EQ(legend_lines(std::vector<LegendEntry>(9, entry)), 2);
  EXPECT_EQ(legend_lines(std::vector<LegendEntry>(17, entry)), 3);
}

class CliPlot : public testing::Test {
 protected:
  CliPlot() {
    cli_test::write_text(
        directory_ / "out.csv",
        "kernel,batch,seqlen_q,model_tflops,model_error\n"
        "fa1,1,512,50,\nfa1,1,2048,70,\nfa2,1,512,100.5,\nfa2,1,8192,150,\nfa2,1,16384,,too long\n");
  }

  cli_test::ProgramResult plot(const cli_test::Arguments& more) {
    cli_test::Arguments arguments = {"plot", "out.csv", "-o", "out.svg"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return cli_test::run_program(arguments, directory_.path());
  }

  cli_test::TemporaryDirectory directory_;
};

TEST_F(CliPlot, DrawsALineForEachValue) {
  const auto result = plot({"--x", "seqlen_q", "--y", "model_tflops", "--by", "kernel", "--by", "batch"});
  if (result.err.find("gnuplot is missing") != std::string::npos) {
    GTEST_SKIP() << result.err;
  }
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "out.svg: 4 points in 2 lines\nleft out: 1 row with a model_error\n");
  EXPECT_EQ(directory_.files(), (std::vector<std::string>{"out.csv", "out.svg"}));
  const std::string picture = cli_test::file_text(directory_ / "out.svg");
  for (const char* text :
       {"fa1, batch 1", "fa2, batch 1", "model_tflops over seqlen_q", ">8192<", "</svg>"}) {
    EXPECT_NE(picture.find(text), std::string::npos) << text;
  }
  EXPECT_EQ(plot({"--x", "batch", "--y", "model_tflops", "--by", "kernel"}).out,
            "out.svg: 4 points in 2 lines\nleft out: 1 row with a model_error\n"
            "4 points share a line and an x with others; one more --by may tell them apart\n");
}

TEST_F(CliPlot, RefusesWhatItCannotDraw) {
  const auto refusal = [&](const cli_test::Arguments& flags) {
    const auto result = plot(flags);
    EXPECT_EQ(result.status, 2);
    EXPECT_FALSE(std::filesystem::exists(directory_ / "out.svg"));
    return result.err;
  };
  EXPECT_EQ(refusal({"--x", "seqlen", "--y", "model_tflops"}),
            "warpscope: out.csv:1: --x 'seqlen': no such column, nearest is seqlen_q; columns are kernel, "
            "batch, seqlen_q, model_tflops, model_error\n");
  EXPECT_TRUE(refusal({"--x", "batch", "--y", "batch", "--by", "kernle"})
                  .starts_with("warpscope: out.csv:1: --by 'kernle': no such column, nearest is kernel; "));
  EXPECT_EQ(refusal({"--x", "batch", "--y", "kernel"}),
            "warpscope: out.csv:2: column 'kernel' 'fa1': legal is a number\n");
  cli_test::write_text(directory_ / "out.csv", "a,b\n1,2\n3,nan\n");
  EXPECT_EQ(refusal({"--x", "a", "--y", "b"}), "warpscope: out.csv:3: column 'b' 'nan': legal is a number\n");
  cli_test::write_text(directory_ / "out.csv", "a,b,model_error\n1,2,x\n");
  EXPECT_EQ(refusal({"--x", "a", "--y", "b"}),
            "warpscope: out.csv: no row to draw; 1 of 1 have a model_error\n");
  cli_test::write_text(directory_ / "out.csv", "a\n1\n2\n3\n4\n5\n6\n7\n8\n9\n");
  EXPECT_EQ(refusal({"--x", "a", "--y", "a", "--by", "a"}),
            "warpscope: out.csv: --by a: 9 lines would not be told apart; legal are up to 8\n");
  EXPECT_EQ(
      cli_test::run_program({"plot", "out.csv", "--x", "a", "--y", "a", "-o", "out.csv"}, directory_.path())
          .err,
      "warpscope: out.csv: is named by FILE and by -o; an output needs a file of its own\n");
}

}  // namespace
}  // namespace warpscope::experiments
