// The report of non-matmul from made-up results.
#include <gtest/gtest.h>

#include <algorithm>

#include "experiments/csv/csv.hpp"
#include "experiments/study/non_matmul.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

hw::HwConfig stock_config(const char* gpu) {
  return hw::load(gpu, {}, config_directory()).config;
}

std::vector<RateSetting> tensor_settings(const hw::HwConfig& config) {
  std::vector<RateSetting> settings = rate_settings(config);
  std::erase_if(settings, [](const RateSetting& setting) { return setting.rate != Rate::tensor; });
  return settings;
}

/// 100 us for the matmul work at the stock interval, as many for the other work, one after the other.
class NonMatmul : public testing::Test {
 protected:
  NonMatmul() : points_(rate_points()) {
    for (RatePoint& point : points_) {
      const bool a100 = point.point.model.gpu.starts_with("a100");
      const double stock_interval = a100 ? 8 : 6;
      PointResult& result = point.outcome.result;
      result.time_us =
          100 * point.setting.interval_cycles / stock_interval + (point.setting.half ? 200 : 100);
      result.cycles = 1000;
      result.tflops = 2e4 / result.time_us;
      result.busiest = point.setting.interval_cycles > 2 ? "tensor pipe" : "XU pipe";
      result.busiest_share = 0.5;
      result.metrics = {{"sm__inst_executed_pipe_tensor_op_hmma.sum", 1000},
                        {"sm__inst_executed_pipe_fma.sum", 2000},
                        {"sm__inst_executed_pipe_alu.sum", 1500},
                        {"sm__inst_executed_pipe_xu.sum", 500},
                        {"sm__cycles_active.avg", 500},
                        {"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", 80}};
    }
  }

  const RatePoint& find(const char* gpu, const char* kernel, int interval) const {
    return *std::ranges::find_if(points_, [&](const RatePoint& point) {
      return point.point.model.gpu == gpu && point.point.kernel == kernel &&
             point.setting.interval_cycles == interval && !point.setting.half;
    });
  }

  std::vector<RatePoint> points_;
};

TEST_F(NonMatmul, StockPointIsTheGpuAsItIs) {
  EXPECT_DOUBLE_EQ(peak_ratio(stock_config("a100-sxm4-80gb")), 16);
  EXPECT_NEAR(peak_ratio(stock_config("h100-sxm5-80gb")), 10.667, 1e-3);
  std::size_t stock = 0;
  for (const RatePoint& point : points_) {
    EXPECT_EQ(point.setting.stock, point.point.model.overrides.empty());
    stock += point.setting.stock ? 1 : 0;
  }
  EXPECT_EQ(stock, 2U * 2 * 2 * 3) << "each GPU, head dimension, kernel and rate";
}

TEST_F(NonMatmul, RatiosFromOneToSixtyFourAreLegalOverrides) {
  for (const char* gpu : {"a100-sxm4-80gb", "h100-sxm5-80gb"}) {
    const std::vector<RateSetting> settings = tensor_settings(stock_config(gpu));
    EXPECT_DOUBLE_EQ(settings.front().value, 1);
    EXPECT_DOUBLE_EQ(settings.back().value, 64);
    for (const RateSetting& setting : rate_settings(stock_config(gpu))) {
      const hw::HwConfig changed = hw::load(gpu, setting.overrides, config_directory()).config;
      if (setting.rate == Rate::tensor && !setting.half) {
        EXPECT_DOUBLE_EQ(peak_ratio(changed), setting.value);
      }
    }
  }
  const RateSetting slowest = tensor_settings(stock_config("a100-sxm4-80gb")).front();
  EXPECT_EQ(slowest.overrides, (std::vector<std::string>{"sm.tensor.hmma_16816.interval_cycles=128",
                                                         "sm.tensor.hmma_16816.latency_cycles=145",
                                                         "sm.tensor.hmma_16816.read_cycles=32"}));
}

TEST_F(NonMatmul, PriceIsTheQuotientOfTheTwoSlopes) {
  const std::optional<ExchangeRate> rate = exchange_rate(find("a100-sxm4-80gb", "fa2", 8), points_);
  ASSERT_TRUE(rate.has_value());
  EXPECT_DOUBLE_EQ(rate->non_matmul_slowdown, 0.5);
  EXPECT_DOUBLE_EQ(rate->matmul_slowdown, 0.5);
  // As much time for 4000 x 64 FLOPs as for 1000 x 4096.
  EXPECT_DOUBLE_EQ(rate->matmul_flops.value(), 16);
}

TEST_F(NonMatmul, NoPriceWhereMatmulAddsLittleOrARunIsMissing) {
  EXPECT_FALSE(exchange_rate(find("a100-sxm4-80gb", "fa2", 128), points_).has_value());
  const std::optional<ExchangeRate> fast = exchange_rate(find("h100-sxm5-80gb", "fa1", 1), points_);
  ASSERT_FALSE(fast && fast->matmul_slowdown < 0.1 && fast->matmul_flops);
  for (RatePoint& point : points_) {
    if (point.setting.interval_cycles == 16) {
      point.outcome.result.time_us = 215;
    }
  }
  const std::optional<ExchangeRate> rate = exchange_rate(find("a100-sxm4-80gb", "fa2", 8), points_);
  ASSERT_TRUE(rate.has_value());
  EXPECT_NEAR(rate->matmul_slowdown, 0.075, 1e-12);
  EXPECT_FALSE(rate->matmul_flops.has_value());
}

TEST_F(NonMatmul, FindingsNameTheLimitAndThePrice) {
  const std::string findings = non_matmul_findings(points_);
  EXPECT_NE(findings.find(
                "A100 SXM4 80 GB, d 64: FA1 up to 32:1, then XU pipe (50 % busy at 64:1); FA2 up to 32:1"),
            std::string::npos)
      << findings;
  EXPECT_NE(findings.find("A100 SXM4 80 GB, d 128: reference 16.0; FA1 16.0; FA2 16.0."), std::string::npos);
}

TEST_F(NonMatmul, OutputsHaveEveryPoint) {
  points_.front().outcome = {"no\nluck", {}};
  const StudyOutput output = non_matmul_output(points_);
  const CsvTable table = parse_csv(output.csv, "non-matmul.csv");
  ASSERT_EQ(table.rows.size(), points_.size());
  EXPECT_EQ(table.rows[0].fields[table.column("model_error")], "no; luck");
  EXPECT_EQ(table.rows[0].fields[table.column("model_time_us")], "");
  EXPECT_EQ(table.rows[1].fields[table.column("tensor_pipe_share")], "0.4");
  EXPECT_EQ(output.json["points"].size(), points_.size());
  EXPECT_EQ(output.pictures.size(), 4U);
  EXPECT_NE(output.report.find("not simulated: fa1 fwd fp16 b 4 h 32/32 q 4096"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::experiments
