// The report of parallelism from made-up results.
#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/batch/point_simulator.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/study/parallelism.hpp"

namespace warpscope::experiments {
namespace {

/// FA1 is at its best from 8 heads on; FA2 gains with every doubling.
class Parallelism : public testing::Test {
 protected:
  Parallelism() : points_(parallel_points()) {
    for (ParallelPoint& point : points_) {
      const double heads = static_cast<double>(point.point.problem.heads);
      PointResult& result = point.outcome.result;
      result.time_us = 100;
      result.cycles = 1000;
      result.tflops = point.method == Method::fa1 ? std::min(heads, 8.0) * 10 : heads * 8;
      // Two CTAs of four warps fit on an SM. Half of the SMs' time is used, with one CTA and a half.
      result.metrics = {{"launch__grid_size", 3 * heads},
                        {"launch__block_size", 128},
                        {"launch__waves_per_multiprocessor", 3 * heads / (2 * point.sm_count)},
                        {"sm__cycles_active.avg", 500},
                        {"sm__warps_active.avg.per_cycle_active", 6}};
    }
  }

  std::vector<ParallelPoint> points_;
};

TEST_F(Parallelism, GridIsBatchTimesHeadsAgainstLength) {
  EXPECT_EQ(points_.size(), 2U * 2 * 2 * 3 * 8);
  EXPECT_EQ(points_.front().sm_count, 108);
  EXPECT_EQ(points_.back().sm_count, 132);
  EXPECT_EQ(points_.back().point.problem.heads, 128);
  EXPECT_EQ(points_.back().point.problem.seqlen_q, 16384);
}

TEST_F(Parallelism, FillingComesFromCounts) {
  const Filling filled = filling(points_.front());
  EXPECT_DOUBLE_EQ(filled.ctas, 3);
  EXPECT_DOUBLE_EQ(filled.waves, 3.0 / 216);
  EXPECT_DOUBLE_EQ(filled.busy_sms, 54);
  EXPECT_DOUBLE_EQ(filled.idle_slots, 1 - 0.75 / 2 * 1.0);
  EXPECT_DOUBLE_EQ(filled.last_wave, 1 - 3.0 / 216);
}

TEST_F(Parallelism, ModelCountsWhatFillingNeeds) {
  // 256 queries in tiles of 128 for each of three heads.
  ParallelPoint point = points_.front();
  point.point.kernel = "fa2";
  point.point.problem.heads = point.point.problem.heads_kv = 3;
  point.point.problem.seqlen_q = point.point.problem.seqlen_k = 256;
  point.outcome.result = summary(run_point(point.point));
  EXPECT_EQ(point.outcome.result.metric("launch__occupancy_limit_blocks"), 32);
  const Filling filled = filling(point);
  EXPECT_DOUBLE_EQ(filled.ctas, 6);
  EXPECT_GT(filled.busy_sms, 3);
  EXPECT_LE(filled.busy_sms, 6);
  EXPECT_NEAR(filled.idle_slots, 1 - filled.busy_sms / 216, 1e-3)
      << "one CTA on each of six SMs with two slots";
}

TEST_F(Parallelism, FindingsSayWhatIsEnough) {
  const std::string findings = parallelism_findings(points_);
  EXPECT_NE(findings.find("d 64: FA1 8, 8, 8, FA2 128, 128, 128; d 128: FA1 8, 8, 8, FA2 128, 128, 128.\n"),
            std::string::npos)
      << findings;
  EXPECT_NE(findings.find(
                "FA2 over FA1 is most, 12.8x at batch x heads 128, 512 tokens, d 64 (54 and 54 SMs at work)"),
            std::string::npos)
      << findings;
  EXPECT_NE(findings.find("and least, 0.8x at batch x heads 1,"), std::string::npos);
}

TEST_F(Parallelism, OutputsHaveEveryPoint) {
  points_.front().outcome = {"no luck", {}};
  const StudyOutput output = parallelism_output(points_);
  const CsvTable table = parse_csv(output.csv, "parallelism.csv");
  ASSERT_EQ(table.rows.size(), points_.size());
  EXPECT_EQ(table.rows[0].fields[table.column("busy_sms")], "");
  EXPECT_EQ(table.rows[1].fields[table.column("busy_sms")], "54.0");
  EXPECT_NE(output.report.find("not simulated: fa1 fwd fp16 b 1 h 1/1 q 512"), std::string::npos);
  // Three CTAs per head on half of the SMs: impossible as long as these are fewer than the SMs hold.
  EXPECT_NE(output.report.find("62.5 % !"), std::string::npos);
  EXPECT_NE(output.report.find("which cannot be"), std::string::npos);
  EXPECT_NE(output.report.find("FA1 without splits is not shown"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::experiments
