// Stall reasons beside those of Nsight Compute.
#include "experiments/accuracy/stall_comparison.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "experiments/data/forward_reference.hpp"
#include "model/metrics/result.hpp"

namespace warpscope::experiments {
namespace {

using metrics::Stall;

Observation observation(double wait) {
  Observation result;
  result.point.kernel = "fa2";
  result.source = kCounters;
  for (std::size_t i = 0; i < metrics::kStallReasons; ++i) {
    result.numbers[metrics::metric(static_cast<Stall>(i))] = 0;
  }
  result.numbers[metrics::metric(Stall::selected)] = 1;
  result.numbers[metrics::metric(Stall::wait)] = wait;
  return result;
}

Numbers model(double wait) {
  return observation(wait).numbers;
}

const StallRow& row_of(const std::vector<StallRow>& rows, const std::string& reason) {
  return *std::ranges::find(rows, reason, &StallRow::reason);
}

TEST(StallComparison, AveragesEachReasonAndTheirSum) {
  const std::vector<StallRow> rows =
      compare_stalls({observation(2), observation(1), observation(3)}, {model(1.5), model(1.2), {}});
  ASSERT_EQ(rows.size(), metrics::kStallReasons + 1);
  const StallRow& wait = row_of(rows, "wait");
  EXPECT_EQ(wait.differences.count(), 2U) << "the third one was not simulated";
  EXPECT_DOUBLE_EQ(wait.measured, 1.5);
  EXPECT_DOUBLE_EQ(wait.model, 1.35);
  EXPECT_DOUBLE_EQ(wait.differences.mean(), (0.5 + 0.2) / 2);
  EXPECT_DOUBLE_EQ(wait.differences.worst(), -0.5);
  const StallRow& sum = row_of(rows, "sum");
  EXPECT_DOUBLE_EQ(sum.measured, 2.5);
  EXPECT_DOUBLE_EQ(sum.differences.worst(), 2.5 / 3 - 1) << "a share of what was measured";
}

TEST(StallComparison, KernelsPassesAndSourcesStandApart) {
  Observation other = observation(1);
  other.source = kEdgeCounters;
  Observation backward = observation(1);
  backward.point.problem.pass = kernels::Pass::backward;
  const std::vector<StallRow> rows =
      compare_stalls({observation(1), other, backward}, {model(1), model(1), model(1)});
  EXPECT_EQ(rows.size(), 3 * (metrics::kStallReasons + 1));
  EXPECT_EQ(rows.back().kernel, "fa2 bwd");
}

TEST(StallComparison, MarksWhatIsFarOff) {
  const std::string text =
      stall_table(compare_stalls({observation(2), observation(2)}, {model(1.7), model(1.7)}));
  EXPECT_NE(text.find("wait                    2.00   1.70    0.30 *    -0.30"), std::string::npos) << text;
  EXPECT_NE(text.find("barrier                 0.00   0.00    0.00      +0.00"), std::string::npos) << text;
  EXPECT_NE(text.find("sum                     3.00   2.70    10.0 %  -10.0 %"), std::string::npos) << text;
}

TEST(StallComparison, ReasonsAreThoseOfCallsOfOneLaunch) {
  std::size_t edges = 0;
  std::size_t backward = 0;
  for (const Observation& one : all_observations(reference_directory())) {
    const bool has_reasons = one.numbers.contains(metrics::metric(Stall::wait));
    if (one.point.problem.pass == kernels::Pass::backward) {
      const bool one_launch =
          one.source == kCounters && one.point.kernel == "fa1" && one.point.problem.seqlen_q == 512;
      EXPECT_EQ(has_reasons, one_launch) << one.point.kernel << " has several launches";
      backward += one.source == kEdgeCounters ? 1 : 0;
      continue;
    }
    if (one.source == kCounters) {
      EXPECT_EQ(has_reasons, one.point.kernel != "standard_eager") << one.point.kernel;
      if (one.point.kernel == "fa2" && label(one.point) == "d 64, 512 tokens") {
        EXPECT_EQ(one.numbers.at(metrics::metric(Stall::wait)), 1.86);
      }
    }
    edges += one.source == kEdgeCounters ? 1 : 0;
  }
  EXPECT_EQ(edges, 19U) << "17 of fa2 and 2 of fa2_torch";
  EXPECT_EQ(backward, 14U) << "13 of fa2 and 1 of fa2_torch";
}

}  // namespace
}  // namespace warpscope::experiments
