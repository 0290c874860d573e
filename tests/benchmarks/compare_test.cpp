// The script that compares a run of the benchmarks with the baseline, on results made up here.
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/cli/program.hpp"

namespace warpscope {
namespace {

using cli_test::ProgramResult;
using nlohmann::json;

class CompareBenchmarks : public testing::Test {
 protected:
  void SetUp() override {
    if (cli_test::run({"/usr/bin/env", "python3", "--version"}, directory_.path()).status != 0) {
      GTEST_SKIP() << "needs python3";
    }
    write("baseline.json", {{"tolerance", 0.3},
                            {"ratios",
                             {{{"name", "long / short"}, {"of", "long"}, {"to", "short"}, {"value", 4}},
                              {{"name", "mix"},
                               {"of", "long"},
                               {"to", "short"},
                               {"per", "item"},
                               {"value", 2},
                               {"tolerance", 0.6}}}}});
  }
  void write(const std::string& name, const json& content) {
    cli_test::write_text(directory_ / name, content.dump());
  }
  static json result(const std::string& name, double milliseconds, double items) {
    return {{"name", name},
            {"run_name", name},
            {"run_type", "iteration"},
            {"cpu_time", milliseconds},
            {"time_unit", "ms"},
            {"items_per_second", items / milliseconds * 1e3}};
  }
  /// A run in which `long` works on twice as many items as `short`.
  void write_run(double long_ms, double short_ms) {
    write("run.json",
          {{"context", {{"num_cpus", 7}}},
           {"benchmarks",
            {result("long", long_ms, 2), result("long", 3 * long_ms, 2), result("short", short_ms, 1)}}});
  }
  ProgramResult compare(const cli_test::Arguments& more = {}) {
    const std::string script = WARPSCOPE_SOURCE_DIR "/tests/benchmarks/compare.py";
    cli_test::Arguments words = {"/usr/bin/env", "python3", script, "run.json", "baseline.json"};
    words.insert(words.end(), more.begin(), more.end());
    return cli_test::run(words, directory_.path());
  }
  /// Status 2 and one line that contains `words`.
  void expect_refused(const std::string& words) {
    const ProgramResult result = compare();
    EXPECT_EQ(result.status, 2) << result.out;
    EXPECT_EQ(std::ranges::count(result.err, '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }

  cli_test::TemporaryDirectory directory_;
};

TEST_F(CompareBenchmarks, SameRatiosOnASlowerMachineAreFine) {
  for (const double slowness : {0.2, 1.0, 7.0}) {
    write_run(4 * slowness, slowness);
    const ProgramResult result = compare();
    EXPECT_EQ(result.status, 0) << result.out << result.err;
    EXPECT_EQ(result.err, "");
  }
}

TEST_F(CompareBenchmarks, EachRatioHasItsTolerance) {
  write_run(4 * 1.29, 1);
  EXPECT_EQ(compare().status, 0);
  write_run(4 * 1.31, 1);
  const ProgramResult result = compare();
  EXPECT_EQ(result.status, 1);
  EXPECT_NE(result.out.find("worse: long slower, or short faster"), std::string::npos) << result.out;
  EXPECT_NE(result.err.find("1 of 2 ratios"), std::string::npos) << result.err;
  write_run(4 * 1.61, 1);
  EXPECT_NE(compare().err.find("2 of 2 ratios"), std::string::npos);
}

TEST_F(CompareBenchmarks, ToleranceOfTheCommandLineHoldsForAll) {
  write_run(4 * 1.31, 1);
  EXPECT_EQ(compare({"--tolerance", "0.32"}).status, 0);
  EXPECT_NE(compare({"--tolerance", "0.1"}).err.find("2 of 2 ratios"), std::string::npos);
}

TEST_F(CompareBenchmarks, BetterRatiosAreFine) {
  write_run(0.4, 1);
  EXPECT_EQ(compare().status, 0);
}

TEST_F(CompareBenchmarks, UpdateTakesTheValuesAndTheMachineOfTheRun) {
  write_run(40, 1);
  EXPECT_EQ(compare().status, 1);
  EXPECT_EQ(compare({"--update"}).status, 0);
  EXPECT_EQ(compare({"--tolerance", "0.001"}).status, 0);
  const json baseline = json::parse(cli_test::file_text(directory_ / "baseline.json"));
  EXPECT_EQ(baseline["ratios"][0]["value"], 40);
  EXPECT_EQ(baseline["ratios"][1]["tolerance"], 0.6);
  EXPECT_EQ(baseline["measured_on"]["num_cpus"], 7);
}

TEST_F(CompareBenchmarks, BadRunIsRefused) {
  expect_refused("run.json: No such file");
  cli_test::write_text(directory_ / "run.json", "{\n\"benchmarks\": [");
  expect_refused("run.json:2: not JSON");
  write("run.json", json::array());
  expect_refused("run.json: not a JSON object");
  write("run.json", {{"benchmarks", {{{"name", "long"}}}}});
  expect_refused("run.json: not a result of the benchmarks");
  write("run.json", {{"benchmarks", {result("long", 4, 1)}}});
  expect_refused("run.json: no result of short");
}

TEST_F(CompareBenchmarks, BadBaselineIsRefused) {
  write_run(4, 1);
  write("baseline.json", {{"tolerance", 0.3}, {"ratios", {{{"name", "x"}}}}});
  expect_refused("baseline.json: not a baseline");
  std::filesystem::remove(directory_ / "baseline.json");
  expect_refused("baseline.json: No such file");
}

TEST_F(CompareBenchmarks, UnknownArgumentIsRefused) {
  write_run(4, 1);
  EXPECT_EQ(compare({"--no-such-flag"}).status, 2);
}

}  // namespace
}  // namespace warpscope
