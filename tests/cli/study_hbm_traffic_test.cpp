// The report of hbm-traffic from made-up results.
#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/csv/csv.hpp"
#include "experiments/study/hbm_traffic.hpp"
#include "experiments/study/study_records.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

/// Standard and FA1 grow with the length; FA2 reads its inputs twice where the L2 is below half its size.
class HbmTraffic : public testing::Test {
 protected:
  HbmTraffic() : points_(traffic_points()) {
    for (TrafficPoint& point : points_) {
      PointResult& result = point.outcome.result;
      result.time_us = 100;
      result.cycles = 1000;
      result.compulsory_bytes = 270000000;
      const double length = static_cast<double>(point.point.problem.seqlen_q);
      const double reads = point.method == Method::fa2 ? (point.l2_factor < 0.5 ? 2 : 1) : length / 256;
      result.metrics["dram__bytes_read.sum"] = reads * input_bytes(point);
    }
  }

  std::vector<TrafficPoint> points_;
};

TEST_F(HbmTraffic, LawsAreTheOnesOnTheLabel) {
  const TrafficPoint& point = points_.front();
  ASSERT_EQ(point.point.problem.seqlen_q, 512);
  ASSERT_EQ(point.point.problem.head_dim, 64);
  const double scores = 32.0 * 32 * 512 * 512;  // 16384 / 512 sequences, 2048 / 64 heads
  EXPECT_DOUBLE_EQ(square_law_bytes(point), 2 * scores);
  EXPECT_DOUBLE_EQ(flash_law_bytes(point), 2 * scores * 64 * 64 / 83968.0) << "164 KiB hold 83968 elements";
  EXPECT_DOUBLE_EQ(input_bytes(point), 3.0 * 2 * 16384 * 2048);
}

TEST_F(HbmTraffic, CapacitiesAreLegalAndKeepTheShareOfWrittenData) {
  for (const TrafficPoint& point : points_) {
    EXPECT_EQ(point.l2_factor == 1, point.point.model.overrides.empty());
    const hw::HwConfig stock = hw::load(point.point.model.gpu, {}, config_directory()).config;
    const hw::HwConfig config =
        hw::load(point.point.model.gpu, point.point.model.overrides, config_directory()).config;
    EXPECT_DOUBLE_EQ(static_cast<double>(config.l2.capacity_bytes), point.l2_bytes);
    EXPECT_NEAR(static_cast<double>(config.l2.dirty_bytes) / static_cast<double>(stock.l2.dirty_bytes),
                point.l2_factor, 1e-6);
  }
  EXPECT_EQ(points_.size(), 2U * 2 * 3 * (6 + 8 - 1)) << "the GPU itself at 4096 tokens is one point";
}

TEST_F(HbmTraffic, FindingsAreGrowthAndTheL2ThatIsEnough) {
  const std::string findings = hbm_traffic_findings(points_);
  EXPECT_NE(findings.find("A100 SXM4 80 GB, d 64: from 512 to 16k tokens, as many in all, the bytes grow "
                          "standard 32.0x, FA1 32.0x, FA2 1.0x; both laws grow 32x."),
            std::string::npos)
      << findings;
  EXPECT_NE(findings.find("below 1.25 times the inputs: FA1 more than 320 MiB, FA2 20 MiB."),
            std::string::npos)
      << findings;
}

TEST_F(HbmTraffic, ReadsAreHeldAgainstTheInputs) {
  points_.front().outcome = {"no luck", {}};
  const StudyOutput output = hbm_traffic_output(points_);
  EXPECT_NE(output.report.find("0.40      2.00x        0.00"), std::string::npos) << output.report;
  EXPECT_NE(output.report.find("the bytes grow standard ?, FA1 32.0x"), std::string::npos);
  EXPECT_NE(output.report.find("not simulated: standard fwd fp16 b 32 h 32/32 q 512"), std::string::npos);
  const CsvTable table = parse_csv(output.csv, "hbm-traffic.csv");
  ASSERT_EQ(table.rows.size(), points_.size());
  EXPECT_EQ(table.rows[1].fields[table.column("model_dram_read_bytes")], "805306368");
  const auto* chart = std::get_if<LineChart>(&output.pictures.front().chart);
  ASSERT_NE(chart, nullptr);
  const LineSeries& law = chart->panels.front().series[4];
  EXPECT_TRUE(law.is_reference);
  EXPECT_NEAR(law.points.back().second / law.points.front().second, 32, 1e-9);
}

}  // namespace
}  // namespace warpscope::experiments
