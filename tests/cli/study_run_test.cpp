// Points in, files out: a study of two points that take milliseconds.
#include <gtest/gtest.h>

#include "experiments/plot/gnuplot.hpp"
#include "experiments/study/study_records.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::experiments {
namespace {

Point tiny_point(std::vector<std::string> overrides) {
  Point point;
  point.model.gpu = "a100-sxm4-80gb";
  point.model.overrides = std::move(overrides);
  point.kernel = "fa2";
  point.problem = {1, 1, 1, 128, 128, 64, false, kernels::DataType::fp16, kernels::Pass::forward};
  return point;
}

LineChart two_lines() {
  LineChart chart{"A title", "and what it shows", "tokens", "bytes", false, {}};
  chart.panels.push_back({"left",
                          {{512, "512"}, {1024, "1k"}},
                          {{"counted", "#1f6fa8", false, {{512, 10}, {1024, 25}}},
                           {"it's a law", "#444444", true, {{512, 8}, {1024, 16}}}}});
  chart.panels.push_back({"nothing", {{512, "512"}}, {{"counted", "#1f6fa8", false, {}}}});
  return chart;
}

TEST(StudyRun, SimulatesEqualPointsOnceAndWritesAllFiles) {
  try {
    require_gnuplot();
  } catch (const std::exception& error) {
    GTEST_SKIP() << error.what();
  }
  const cli_test::TemporaryDirectory directory;
  const std::vector<Point> points = {tiny_point({}), tiny_point({"sm.xu.lanes=1"}), tiny_point({})};
  std::vector<Record> records;
  testing::internal::CaptureStdout();
  run_study(
      "tiny", {directory.path().string(), {1, {}}, false}, points, [&](std::span<const StudyResult> results) {
        EXPECT_EQ(results[0].result.cycles, results[2].result.cycles);
        EXPECT_GT(results[1].result.cycles, results[0].result.cycles) << "exponentials at a quarter";
        for (std::size_t i = 0; i < points.size(); ++i) {
          records.push_back(study_record(points[i], results[i], {{"number", i}}));
        }
        return StudyOutput{
            "the report\n", records_csv(records), records_json("tiny", records), {{"lines", two_lines()}}};
      });
  EXPECT_TRUE(testing::internal::GetCapturedStdout().starts_with("the report\n"));
  EXPECT_EQ(directory.files(), (std::vector<std::string>{"lines.gnuplot", "lines.svg", "tiny.csv",
                                                         "tiny.html", "tiny.json", "tiny.txt"}));
  const std::string csv = cli_test::file_text(directory / "tiny.csv");
  EXPECT_NE(csv.find("a100-sxm4-80gb,sm.xu.lanes=1,fa2,fwd,fp16,1,1,128,64,0,"), std::string::npos);
  EXPECT_TRUE(csv.ends_with(",2,\n"));
  const std::string picture = cli_test::file_text(directory / "lines.svg");
  EXPECT_NE(picture.find("it's a law"), std::string::npos);
  EXPECT_NE(picture.find("</svg>"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::experiments
