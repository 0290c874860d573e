// Numbers in the JSON of points and results that are no integers where integers belong.
#include "experiments/point/json_integer.hpp"

#include <gtest/gtest.h>

#include "experiments/point/point_json.hpp"
#include "experiments/store/point_result.hpp"

namespace warpscope::experiments {
namespace {

using Json = nlohmann::json;

TEST(JsonInteger, FractionsAndNumbersBeyond64BitsAreRefused) {
  for (const char* number : {"70063703685477580833", "1.5", "1e3", "true", "\"7\"", "null"}) {
    Json result = to_json(PointResult{});
    result["cycles"] = Json::parse(number);
    EXPECT_THROW(result_from_json(result), Json::exception) << number;
    Json point = to_json(Point{});
    point["batch"] = Json::parse(number);
    EXPECT_THROW(point_from_json(point), Json::exception) << number;
  }
}

TEST(JsonInteger, IntegersAreRead) {
  PointResult result;
  result.cycles = INT64_MAX;
  result.compulsory_bytes = UINT64_MAX;
  EXPECT_EQ(result_from_json(to_json(result)).cycles, INT64_MAX);
  EXPECT_EQ(result_from_json(to_json(result)).compulsory_bytes, UINT64_MAX);
}

}  // namespace
}  // namespace warpscope::experiments
