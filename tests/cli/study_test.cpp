// The report of why-fa2 from made-up results: the simulations themselves take minutes.
#include <gtest/gtest.h>

#include <map>

#include "experiments/accuracy/accuracy.hpp"
#include "experiments/batch/point_simulator.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/plot/gnuplot.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/store/result_store.hpp"
#include "experiments/study/ladder.hpp"
#include "experiments/study/why_fa2.hpp"
#include "tests/cli/program.hpp"

namespace warpscope::experiments {
namespace {

/// The grid with a result that is 10 % above each reference.
class WhyFa2 : public testing::Test {
 protected:
  WhyFa2() : references_(reference_directory()), points_(forward_grid(references_)) {
    for (GridPoint& point : points_) {
      const bool known = point.reference != nullptr && point.reference->tflops;
      point.tflops = known ? 1.1 * *point.reference->tflops : 100;
      point.time_us = 1000;
      point.cycles = 1000000;
      point.read_bytes = point.write_bytes = 200000000;
      point.compulsory_bytes = 270000000;
      point.limiter = point.busiest = "tensor pipe";
      point.busiest_share = 0.8;
      point.stalls = {{"wait", 0.5}, {"selected", 0.3}, {"barrier", 0.2}};
    }
  }

  ForwardReferences references_;
  std::vector<GridPoint> points_;
};

TEST_F(WhyFa2, GridHoldsTheTokensOfThePaper) {
  EXPECT_EQ(points_.size(), 3U * 3 * 2 * 2 * 6);
  for (const GridPoint& point : points_) {
    const kernels::Problem& problem = point.point.problem;
    EXPECT_EQ(problem.batch * problem.seqlen_q, 16384);
    EXPECT_EQ(problem.heads * problem.head_dim, 2048);
    EXPECT_EQ(point.gpu->reference.empty(), point.reference == nullptr);
  }
}

TEST_F(WhyFa2, KnowsPublishedAndMeasuredNumbers) {
  const ForwardReference* published = references_.find({"a100-sxm4-80gb", "standard", 64, false, 512});
  ASSERT_NE(published, nullptr);
  EXPECT_DOUBLE_EQ(published->tflops.value(), 29.45);
  const ForwardReference* oom = references_.find({"a100-sxm4-80gb", "standard", 64, false, 16384});
  ASSERT_NE(oom, nullptr);
  EXPECT_FALSE(oom->tflops.has_value());
  const ForwardReference* measured = references_.find({"h200-sxm-141gb", "fa2", 64, false, 512});
  ASSERT_NE(measured, nullptr);
  EXPECT_DOUBLE_EQ(measured->tflops.value(), 270.36);
  EXPECT_EQ(references_.find({"h100-sxm5-80gb", "fa2", 64, false, 512}), nullptr);
}

TEST_F(WhyFa2, ReportNamesErrorsAndWhatIsNotModelled) {
  points_.back().error = "out of\nluck";
  const std::string report = grid_report(points_);
  EXPECT_NE(report.find("+10.0 %"), std::string::npos);
  EXPECT_NE(report.find("OOM"), std::string::npos);
  EXPECT_NE(report.find("here they run on mma.sync"), std::string::npos);
  EXPECT_NE(report.find("not simulated: h200-sxm-141gb fa2, d 128 causal, 16384 tokens: out of; luck"),
            std::string::npos);
}

TEST_F(WhyFa2, CsvHasARowForEachPoint) {
  points_.front().error = "no, \"really\"";
  const CsvTable table = parse_csv(grid_csv(points_), "why-fa2.csv");
  ASSERT_EQ(table.rows.size(), points_.size());
  EXPECT_EQ(table.rows[0].fields[table.column("model_error")], "no, \"really\"");
  EXPECT_EQ(table.rows[1].fields[table.column("relative_error")], "0.1000");
  EXPECT_EQ(grid_json(points_).size(), points_.size());
}

TEST_F(WhyFa2, DrawsCharts) {
  try {
    require_gnuplot();
  } catch (const std::exception& error) {
    GTEST_SKIP() << error.what();
  }
  const cli_test::TemporaryDirectory directory;
  for (const GridGpu& gpu : grid_gpus()) {
    draw(speed_chart(gpu, points_), directory / ("speed-" + std::string(gpu.name)));
    draw(traffic_chart(gpu, points_), directory / ("bytes-" + std::string(gpu.name)));
  }
  EXPECT_EQ(directory.files().size(), 12U);
  const std::string picture = cli_test::file_text(directory / "speed-a100-sxm4-80gb.svg");
  EXPECT_NE(picture.find("head dimension 128, causal"), std::string::npos);
  EXPECT_NE(picture.find("</svg>"), std::string::npos);
}

TEST_F(WhyFa2, WritesItsOutputsFromWhatAnInterruptedRunLeft) {
  try {
    require_gnuplot();
  } catch (const std::exception& error) {
    GTEST_SKIP() << error.what();
  }
  const cli_test::TemporaryDirectory directory;
  {
    PointSimulator simulator;
    ResultStore store(directory / "why-fa2.store", ResultStore::Use::fresh, model_version());
    const std::vector<LadderCase> ladder = ladder_cases();
    for (const Point& point : points_of(ladder)) {
      PointResult result;
      result.time_us = 1000;
      result.tflops = 100;
      store.put(simulator.keyed(point).key, "", {Fate::done, to_json(result).dump()});
    }
    for (const GridPoint& point : points_) {
      PointResult result;
      result.time_us = point.time_us;
      result.cycles = point.cycles;
      result.tflops = point.tflops;
      result.metrics["dram__bytes_read.sum"] = static_cast<double>(point.read_bytes);
      result.metrics["dram__bytes_write.sum"] = static_cast<double>(point.write_bytes);
      result.compulsory_bytes = point.compulsory_bytes;
      result.limiter = point.limiter;
      result.busiest = point.busiest;
      result.busiest_share = point.busiest_share;
      result.stalls = point.stalls;
      store.put(simulator.keyed(point.point).key, "", {Fate::done, to_json(result).dump()});
    }
  }
  testing::internal::CaptureStdout();
  run_why_fa2({directory.path().string(), {2, {}}, true});
  const std::string printed = testing::internal::GetCapturedStdout();
  const std::string report = cli_test::file_text(directory / "why-fa2.txt");
  EXPECT_TRUE(report.starts_with(grid_report(points_)));
  EXPECT_NE(report.find("From standard attention over FlashAttention-1"), std::string::npos);
  EXPECT_TRUE(printed.starts_with(report));
  EXPECT_EQ(cli_test::file_text(directory / "why-fa2.csv"), grid_csv(points_));
  EXPECT_TRUE(nlohmann::json::accept(cli_test::file_text(directory / "why-fa2.json")));
  EXPECT_EQ(directory.files().size(), 5U + (3 * 3 + 2) * 2)
      << "four texts and a page; a script and a picture for each chart";
}

TEST(Accuracy, ReadsWhatIsMeasured) {
  std::map<kernels::Pass, std::size_t> counters;
  for (const Observation& observation : all_observations(reference_directory())) {
    const bool backward = observation.point.problem.pass == kernels::Pass::backward;
    counters[observation.point.problem.pass] += observation.source == "counters.csv" ? 1 : 0;
    if (backward && observation.point.kernel == "fa2" && observation.source == "counters.csv" &&
        label(observation.point) == "d 64, 512 tokens") {
      EXPECT_EQ(observation.numbers.at(kCycles), 140884 + 1187192 + 112375);
    }
    if (!backward && observation.point.kernel == "fa2" && observation.source == "counters.csv" &&
        label(observation.point) == "d 64, 512 tokens") {
      EXPECT_EQ(observation.numbers.at(kCycles), 450764);
      EXPECT_EQ(observation.numbers.at(kHbmBytes), 201403136.0 + 65175808.0);
      EXPECT_EQ(observation.numbers.at("smsp__inst_executed_op_ldgsts.sum"), 1179648);
    }
  }
  // fa2 at three lengths, fa2_torch and fa1 at two, standard_eager at one; two head dimensions, causal or
  // not. xformers at one, without mask.
  EXPECT_EQ(counters[kernels::Pass::forward], 4U * (3 + 2 + 2 + 1) + 2);
  EXPECT_EQ(counters[kernels::Pass::backward], 4U * (3 + 2 + 2 + 1) + 2);
}

TEST(Accuracy, CountersLeaveOutLaunchesThatWereNotMeasured) {
  PointResult result;
  result.cycles = 1000;
  result.tflops = 5;
  result.metrics = {{"dram__bytes_read.sum", 300}, {"dram__bytes_write.sum", 200}, {"ratio", 0.5}};
  result.launches = {{"zeros_for_dq", 100, {{"dram__bytes_write.sum", 60}, {"ratio", 0.1}}},
                     {"fmha_bwd_dot_do_o_kernel<64>", 850, {{"dram__bytes_read.sum", 260}}},
                     {"copy_of_dq", 50, {{"dram__bytes_read.sum", 30}}},
                     {"reduce_kernel dK", 20, {{"dram__bytes_read.sum", 10}}}};
  const Numbers numbers = model_numbers(result);
  EXPECT_EQ(numbers.at(kCycles), 830);
  EXPECT_EQ(numbers.at(kHbmBytes), 260 + 140);
  EXPECT_EQ(numbers.at(kTflops), 5) << "of the whole call";
  EXPECT_EQ(numbers.at("ratio"), 0.5);
  EXPECT_EQ(model_numbers(result_from_json(to_json(result))), numbers);
}

TEST(Accuracy, HoldsXformersAgainstItsOwnCountersAndThePaper) {
  std::map<std::string, int> by_source;
  for (const Observation& observation : all_observations(reference_directory())) {
    if (observation.point.kernel != "xformers") {
      continue;
    }
    ++by_source[observation.source];
    if (observation.source == kXformersCounters && label(observation.point) == "d 128 causal, 512 tokens") {
      EXPECT_EQ(observation.numbers.at(kCycles), 521669);
      EXPECT_EQ(observation.numbers.at(kHbmBytes), 201399552.0 + 60634624.0);
    }
    if (observation.source == kFigure5 && label(observation.point) == "d 64, 512 tokens") {
      EXPECT_DOUBLE_EQ(observation.numbers.at(kTflops), 89.03);
      EXPECT_EQ(observation.point.model.gpu, "a100-sxm4-80gb");
    }
  }
  EXPECT_EQ(by_source[kCounters], 2 * 2) << "forward and backward";
  EXPECT_EQ(by_source[kXformersCounters], 19);
  EXPECT_EQ(by_source[kFigure6], 2 * 2 * 6);
  EXPECT_EQ(by_source[kFigure5], 2 * 2 * 6) << "head dimensions, with a mask or not, lengths";
}

TEST(Accuracy, HoldsDividedKeysAndWindowsAgainstTheirCounters) {
  std::map<std::string, int> by_source;
  for (const Observation& observation : all_observations(reference_directory())) {
    ++by_source[observation.source];
    if (observation.source == kSplitGuides && label(observation.point) == "d 128, 1 query on 4096 keys" &&
        observation.point.kernel == "fa2") {
      EXPECT_EQ(observation.point.problem.num_splits, 7);
      EXPECT_EQ(observation.numbers.at(kCycles), 41419 + 13750) << "both launches of the call";
    }
    if (observation.source == kFeatureCounters && label(observation.point) == "d 64, 8192 tokens") {
      EXPECT_EQ(observation.point.problem.window, (kernels::KeyWindow{256, 0}));
      EXPECT_EQ(observation.numbers.at("sm__inst_executed.sum"), 57964416);
    }
  }
  EXPECT_EQ(by_source[kSplitGuides], 4 + 2);
  EXPECT_EQ(by_source[kSplitHeldOut], 12 + 2);
  EXPECT_EQ(by_source[kFeatureCounters], 8);
}

TEST(Accuracy, HoldsBytesAgainstTensorsThatLieAsInTheModel) {
  std::map<std::string, double> bytes;
  for (const Observation& observation : all_observations(reference_directory())) {
    if (observation.source == kPlacedBytes) {
      EXPECT_TRUE(observation.point.problem.heads_first);
      bytes[label(observation.point)] = observation.numbers.at(kHbmBytes);
    }
  }
  EXPECT_EQ(bytes.size(), 20U) << "one row of each shape: other rows have gaps between tensors";
  EXPECT_NEAR(bytes.at("d 256 causal, 6656 tokens"), 387e6, 1e6);
}

TEST(Accuracy, HoldsLengthsDropoutAndPagesAgainstTheirCounters) {
  std::map<std::string, int> by_source;
  for (const Observation& observation : all_observations(reference_directory())) {
    ++by_source[observation.source];
    const kernels::Problem& problem = observation.point.problem;
    if (observation.source == kLengthCounters && problem.batch == 4) {
      EXPECT_EQ(problem.seqlens, (std::vector<std::int64_t>{512, 1024, 2048, 4096}));
      EXPECT_EQ(observation.numbers.at(kCycles), 987753);
    }
    if (observation.source == kDropoutCounters && problem.causal) {
      EXPECT_EQ(problem.dropout, 0.17);
    }
    if (observation.source == kPageCounters && problem.seqlen_k == 65536) {
      EXPECT_EQ(problem.page_size, 1024);
      EXPECT_EQ(observation.numbers.at(kCycles), 126702 + 30831) << "both launches of the call";
    }
  }
  EXPECT_EQ(by_source[kLengthCounters], 4);
  EXPECT_EQ(by_source[kDropoutCounters], 4);
  EXPECT_EQ(by_source[kPageCounters], 5);
}

}  // namespace
}  // namespace warpscope::experiments
