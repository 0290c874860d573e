// A point is simulated again if and only if something that decides its result has changed.
#include "experiments/store/point_key.hpp"

#include <gtest/gtest.h>

#include <set>

#include "experiments/base/progress.hpp"
#include "experiments/batch/simulate_points.hpp"
#include "experiments/point/point_json.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/sweep/shard.hpp"

namespace warpscope::experiments {
namespace {

Point base_point() {
  Point point;
  point.model.gpu = "h200-sxm-141gb";
  point.kernel = "fa2";
  point.problem = {2, 4, 4, 128, 128, 64, false, kernels::DataType::fp16, kernels::Pass::forward};
  return point;
}

std::vector<Point> variants() {
  std::vector<Point> points(20, base_point());
  points[1].model.gpu = "a100-sxm4-80gb";
  points[2].model.overrides = {"sm.xu.lanes=32"};
  points[3].model.options.mode = gpu::Mode::detailed;
  points[4].model.options.warm_l2 = true;
  points[5].kernel = "fa1";
  points[6].problem.batch = 3;
  points[7].problem.heads = 8;
  points[8].problem.heads_kv = 2;
  points[9].problem.seqlen_q = 127;
  points[10].problem.seqlen_k = 127;
  points[11].problem.causal = true;
  points[12].problem.dtype = kernels::DataType::bf16;
  points[13].problem.type = kernels::ProblemType::gemm;
  points[14].problem.matrix.rows = 1;
  points[15].problem.matrix.cols = 1;
  points[16].problem.matrix.depth = 1;
  points[17].problem.pass = kernels::Pass::backward;
  points[18].problem.pass = kernels::Pass::both;
  points[19].problem.deterministic = true;
  return points;
}

TEST(PointKey, DiffersInEverythingThatCounts) {
  PointSimulator simulator;
  std::set<std::string> keys;
  for (const Point& point : variants()) {
    EXPECT_TRUE(keys.insert(simulator.keyed(point).key).second) << to_json(point).dump();
    EXPECT_EQ(simulator.keyed(point).key, simulator.keyed(point).key);
  }
}

TEST(PointKey, DependsOnValuesOfTheGpuNotOnItsName) {
  PointSimulator simulator;
  Point file = base_point();
  file.model.gpu = (config_directory() / "h200-sxm-141gb.toml").string();
  EXPECT_EQ(simulator.keyed(file).key, simulator.keyed(base_point()).key);
  Point same_value = base_point();
  same_value.model.overrides = {"sm.xu.lanes=4"};
  EXPECT_EQ(simulator.keyed(same_value).key, simulator.keyed(base_point()).key);
}

TEST(PointKey, DependsOnTheVersionOfTheModel) {
  const hw::HwConfig config;
  EXPECT_NE(point_key(base_point(), config, "1"), point_key(base_point(), config, "2"));
  EXPECT_FALSE(model_version().empty());
}

TEST(PointJson, IsExact) {
  for (const Point& point : variants()) {
    EXPECT_EQ(to_json(point_from_json(to_json(point))), to_json(point));
  }
}

TEST(Batch, TakesEachPointOnceAndTheLargestFirst) {
  PointSimulator simulator;
  std::vector<KeyedPoint> points;
  for (const Point& point : variants()) {
    points.push_back(simulator.keyed(point));
    points.push_back(points.back());
  }
  const std::vector<KeyedPoint> distinct = distinct_by_cost(points);
  ASSERT_EQ(distinct.size(), variants().size());
  EXPECT_EQ(distinct.front().point.problem.pass, kernels::Pass::both);
  EXPECT_EQ(distinct.at(1).point.problem.pass, kernels::Pass::backward);
  EXPECT_EQ(distinct.at(2).point.problem.heads, 8);
  EXPECT_TRUE(distinct.back().point.problem.causal);
}

TEST(Shards, HoldEachPointOnce) {
  PointSimulator simulator;
  std::vector<KeyedPoint> points;
  for (const Point& point : variants()) {
    points.push_back(simulator.keyed(point));
  }
  for (const std::size_t count : {1U, 2U, 5U, 20U}) {
    std::multiset<std::string> keys;
    for (std::size_t index = 1; index <= count; ++index) {
      const std::vector<KeyedPoint> share = share_of({index, count}, points);
      EXPECT_LE(share.size(), points.size() / count + 1);
      for (const KeyedPoint& point : share) {
        keys.insert(point.key);
      }
    }
    EXPECT_EQ(keys.size(), points.size());
    EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()).size(), points.size());
  }
}

TEST(Progress, SaysRateAndTimeLeft) {
  EXPECT_EQ(progress_text("sweep", 48, 0, 0, 5), "sweep: 0 of 48 points");
  EXPECT_EQ(progress_text("sweep", 48, 0, 12, 4), "sweep: 12 of 48 points, 3.0 a second, 12 s left");
  EXPECT_EQ(progress_text("sweep", 4000, 1000, 2000, 8),
            "sweep: 2000 of 4000 points, 125 a second, 16 s left");
  EXPECT_EQ(progress_text("study", 216, 0, 3, 60), "study: 3 of 216 points, 3.0 a minute, 1 h 11 min left");
}

}  // namespace
}  // namespace warpscope::experiments
