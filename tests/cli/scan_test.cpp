// `run` with lists, ranges and --scan.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "experiments/base/usage_error.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/plot/gnuplot.hpp"
#include "experiments/scan/scan_axis.hpp"
#include "experiments/sweep/model_columns.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::cli_test {
namespace {

using experiments::expand_values;
using experiments::UsageError;
using Values = std::vector<std::string>;

/// A run of milliseconds without --heads and --seqlen.
Arguments tiny(const Arguments& more) {
  Arguments arguments = {"run",     "--gpu", "h200-sxm-141gb", "--kernel", "fa2",
                         "--batch", "1",     "--head-dim",     "32"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(ScanAxis, ListsAndRanges) {
  EXPECT_EQ(expand_values("--x", "1,2,4", true), (Values{"1", "2", "4"}));
  EXPECT_EQ(expand_values("--x", "512:16384:x2", true),
            (Values{"512", "1024", "2048", "4096", "8192", "16384"}));
  EXPECT_EQ(expand_values("--x", "512:2000:+512", true), (Values{"512", "1024", "1536"}));
  EXPECT_EQ(expand_values("--x", "3:100:x3", true), (Values{"3", "9", "27", "81"}));
  EXPECT_EQ(expand_values("--x", "1,4:8:+2,64", true), (Values{"1", "4", "6", "8", "64"}));
  EXPECT_EQ(expand_values("--x", "fa1,fa2", false), (Values{"fa1", "fa2"}));
  EXPECT_EQ(expand_values("--x", "9223372036854775806:9223372036854775807:x2", true).size(), 1U)
      << "no overflow";
  EXPECT_EQ(expand_values("--x", "9223372036854775806:9223372036854775807:+1", true).size(), 2U);
}

TEST(ScanAxis, RefusesWhatIsNeither) {
  for (const char* text : {"", ",", "1,", "1,x", "1:2", "1:2:3", "1:2:x1", "1:2:x0", "1:2:+0", "2:1:x2",
                           "0:4:+1", "1:2:-1", "1:2:x", "a:b:x2", "1:2:x2:x2", "1, 2"}) {
    EXPECT_THROW(expand_values("--x", text, true), UsageError) << text;
  }
  EXPECT_EQ(expand_values("--x", "1:10000:+1", true).size(), 10'000U);
  EXPECT_THROW(expand_values("--x", "1:10001:+1", true), UsageError);
}

TEST(CliScan, HasTheResultsOfSingleRuns) {
  const TemporaryDirectory directory;
  const ProgramResult scan = run_program(tiny({"--heads", "1,2", "--scan", "sm.xu.lanes=8,16", "--seqlen",
                                               "64:128:x2", "--json", "-", "--csv", "scan.csv", "-j", "2"}),
                                         directory.path());
  ASSERT_EQ(scan.status, 0) << scan.err;
  const auto json = nlohmann::ordered_json::parse(scan.out);
  ASSERT_EQ(json.size(), 8U);
  const ProgramResult single = run_program(
      tiny({"--heads", "2", "--seqlen", "64", "--set", "sm.xu.lanes=16", "--json", "-"}), directory.path());
  EXPECT_EQ(json[6], nlohmann::ordered_json::parse(single.out)) << "lanes slowest, then heads, then seqlen";

  const experiments::CsvTable csv = experiments::read_csv(directory / "scan.csv");
  ASSERT_EQ(csv.rows.size(), 8U);
  const auto& row = csv.rows[6].fields;
  EXPECT_EQ(row[csv.column("sm.xu.lanes")], "16");
  EXPECT_EQ(row[csv.column("set")], "sm.xu.lanes=16");
  EXPECT_EQ(row[csv.column("heads")], "2");
  EXPECT_EQ(row[csv.column("model_cycles")], std::to_string(json[6]["cycles"].get<int>()));
}

TEST(CliScan, CsvHasTheColumnsOfASweepOfTheSamePoints) {
  const TemporaryDirectory directory;
  ASSERT_EQ(
      run_program(tiny({"--seqlen", "64,96", "--scan", "heads=1,3", "--heads-kv", "3", "--csv", "scan.csv"}),
                  directory.path())
          .status,
      3);
  const experiments::CsvTable a = experiments::read_csv(directory / "scan.csv");
  std::string points;
  const auto add_point = [&](const std::vector<std::string>& fields) {
    for (std::size_t column = 0; column + experiments::kModelColumns.size() < fields.size(); ++column) {
      points += (column == 0 ? "" : ",") + fields[column];
    }
    points += '\n';
  };
  add_point(a.header.fields);
  for (const experiments::CsvRecord& row : a.rows) {
    add_point(row.fields);
  }
  write_text(directory / "points.csv", points);
  EXPECT_EQ(run_program({"sweep", "--points", "points.csv", "-o", "sweep.csv"}, directory.path()).status, 3);
  const experiments::CsvTable b = experiments::read_csv(directory / "sweep.csv");
  EXPECT_EQ(a.header.fields, b.header.fields);
  ASSERT_EQ(a.rows.size(), b.rows.size());
  EXPECT_EQ(a.rows[2].fields, b.rows[2].fields);
  EXPECT_EQ(a.rows[3].fields, b.rows[3].fields);
}

TEST(CliScan, PointsThatCannotRunSinkNoOther) {
  const TemporaryDirectory directory;
  const ProgramResult scan =
      run_program(tiny({"--heads", "1,2,3", "--heads-kv", "2", "--seqlen", "64", "--json", "scan.json"}),
                  directory.path());
  EXPECT_EQ(scan.status, 3);
  EXPECT_EQ(scan.err, "warpscope: 2 of 3 points could not be simulated; the report says why\n");
  EXPECT_NE(scan.out.find("\n  heads 1: --heads-kv '2': legal are divisors of the 1 query heads\n"),
            std::string::npos)
      << scan.out;
  const auto json = nlohmann::json::parse(file_text(directory / "scan.json"));
  EXPECT_EQ(json[0]["scan"]["heads"], "1");
  EXPECT_EQ(json[0]["error"], "--heads-kv '2': legal are divisors of the 1 query heads");
  EXPECT_GT(json[1]["cycles"], 0);
}

TEST(CliScan, TableFitsTheTerminalAndComparesWithTheFirstRow) {
  const TemporaryDirectory directory;
  const ProgramResult scan =
      run_program({"run", "--batch", "1", "--head-dim", "32", "--heads", "1", "--seqlen", "64,128", "--scan",
                   "kernel=standard_eager,fa2", "--scan", "gpu=a100-sxm4-80gb,h100-sxm5-80gb", "--set",
                   "sm.issue.cta_turnaround_cycles=700", "--json", "scan.json"},
                  directory.path());
  ASSERT_EQ(scan.status, 0) << scan.err;
  EXPECT_LE(widest_line(scan.out), 80U) << scan.out;
  EXPECT_NE(scan.out.find("\nkernel standard_eager:\n"), std::string::npos) << scan.out;
  EXPECT_NE(scan.out.find("changed: sm.issue.cta_turnaround_cycles=700"), std::string::npos) << scan.out;
  const auto json = nlohmann::json::parse(file_text(directory / "scan.json"));
  const double first = json[0]["time_us"];
  const double last = json[7]["time_us"];
  const std::string cell = fmt::format("{:.2f}", first / last);
  EXPECT_NE(scan.out.find(cell + "\n\nSpeed-up"), std::string::npos) << cell << '\n' << scan.out;
}

TEST(CliScan, ChartHasALineForEachCombination) {
  const TemporaryDirectory directory;
  const ProgramResult scan = run_program(
      tiny({"--heads", "1,2", "--seqlen", "64:1024:x4", "--chart", "scan.svg"}), directory.path());
  if (scan.err.find("gnuplot is missing") != std::string::npos) {
    GTEST_SKIP() << scan.err;
  }
  ASSERT_EQ(scan.status, 0) << scan.err;
  EXPECT_EQ(directory.files(), std::vector<std::string>{"scan.svg"});
  const std::string picture = file_text(directory / "scan.svg");
  for (const char* text : {"heads 1", "heads 2", "seqlen", ">1024<", "TFLOP/s", "</svg>"}) {
    EXPECT_NE(picture.find(text), std::string::npos) << text;
  }
}

struct Refusal {
  Arguments flags;
  std::string message;
};

TEST(CliScan, RefusesWhatMakesNoSense) {
  const TemporaryDirectory directory;
  const std::vector<Refusal> cases = {
      {{"--seqlen", "64,128", "--trace", "x"},
       "--trace does not go with a scan of seqlen: it is about one run"},
      {{"--seqlen", "64,128", "--why"}, "--why does not go with a scan of seqlen: it is about one run"},
      {{"--scan", "heads=1", "--timeline", "x"},
       "--timeline does not go with a scan of heads: it is about one run"},
      {{"--scan", "heads=1", "--vcd", "x"}, "--vcd does not go with a scan of heads: it is about one run"},
      {{"--scan", "heads=1", "--report", "x.html"},
       "--report with a page does not go with a scan of heads: it is about one run"},
      {{"--csv", "x.csv"}, "--csv goes with a scan only: --scan, or a flag with a list or a range"},
      {{"--scan", "heads"}, "--scan 'heads': legal is KEY=VALUES, as in heads=1,2,4"},
      {{"--scan", "heads=1", "--scan", "heads=2"}, "--scan heads: given twice; legal are two different keys"},
      {{"--scan", "a.b=1", "--scan", "c.d=2", "--scan", "e.f=1"},
       "--scan: given 3 times; legal is once or twice"},
      {{"--scan", "kernel=fa1"}, "--scan kernel: --kernel has a value already"},
      {{"--heads", "1:128:+1", "--seqlen", "1:128:+1"},
       "the scan has more than 10000 points; legal are up to so many"},
      {{"--scan", "dtype=fp16,bf16", "--chart", "x.svg"},
       "--chart: nothing that the scan varies has numbers only; there is no x axis"},
      {{"--heads", "1:9:+1", "--scan", "seqlen=1:9:+1", "--chart", "x.svg"},
       "--chart: 9 lines would not be told apart; legal are up to 8"},
      {{"--heads", "1,2", "--chart", "x.png"},
       "--chart 'x.png': charts are SVG; legal is a name that ends in .svg"},
      {{"--heads", "1,2", "--csv", "x", "--json", "x"},
       "x: is named by --json and by --csv; an output needs a "
       "file of its own"},
      {{"--heads", "1,2", "--seqlen", "64", "--scan", "sm.xu.lames=8,16"},
       "--set sm.xu.lames=8: unknown key"},
  };
  for (const Refusal& refusal : cases) {
    const ProgramResult result = run_program(tiny(refusal.flags), directory.path());
    EXPECT_EQ(result.status, 2) << refusal.message;
    EXPECT_EQ(result.out, "") << refusal.message;
    EXPECT_EQ(result.err.substr(0, 11 + refusal.message.size()), "warpscope: " + refusal.message);
  }
  EXPECT_TRUE(directory.files().empty());
  const ProgramResult near = run_program(tiny({"--scan", "hads=1,2"}), directory.path());
  EXPECT_TRUE(near.err.starts_with("warpscope: --scan 'hads': unknown, nearest is heads; ")) << near.err;
}

}  // namespace
}  // namespace warpscope::cli_test
