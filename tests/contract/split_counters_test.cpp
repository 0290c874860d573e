// Split-KV launches against hardware counters: Nsight Compute on one H200 SXM, fp16
// (experiments/reference/measured-h200/counters_split.csv).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/kernel.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/counted_instructions.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::Problem;

struct Measured {
  std::string_view kernel;
  std::int64_t batch, heads, heads_kv, seqlen_q, seqlen_k, head_dim;
  bool causal;
  std::int64_t splits;
  double instructions, hmma, ldsm, ldgsts, xu;
  double combining;  ///< instructions of the second launch
};

// clang-format off
constexpr std::array kMeasured = std::to_array<Measured>({
    // Its instructions were counted part by part; the others guided nothing.
    {"fa2", 1, 32, 32, 1, 4096, 128, false, 7, 4295808, 1048576, 557056, 138240, 280192, 20696},
    {"fa2", 4, 32, 8, 1, 8192, 128, false, 7, 7818368, 2097152, 1114112, 269312, 550528, 82784},
    {"fa2", 1, 64, 8, 1, 65536, 64, false, 29, 10602560, 2097152, 1081344, 265856, 1075168, 28192},
    {"fa2", 2, 16, 16, 64, 4000, 128, true, 7, 4498944, 1048576, 557056, 138240, 280192, 1324544},
    {"fa2", 2, 16, 16, 7, 3001, 64, true, 6, 3043584, 393216, 202752, 52224, 208128, 71540},
    {"fa2", 1, 16, 16, 64, 16384, 128, false, 15, 7514560, 2097152, 1114112, 269824, 551232, 754944},
    {"fa2_kvcache", 16, 32, 32, 1, 2048, 128, false, 1, 33664512, 8388608, 4718592, 1064960, 2238464, 0},
    {"fa2_kvcache", 32, 8, 8, 1, 4096, 64, false, 1, 20925952, 4194304, 2228224, 528384, 2167808, 0},
});
// clang-format on

Problem problem_of(const Measured& point) {
  Problem problem{point.batch,    point.heads,    point.heads_kv, point.seqlen_q,
                  point.seqlen_k, point.head_dim, point.causal};
  problem.num_splits = point.splits;
  return problem;
}

class SplitCounters : public testing::TestWithParam<Measured> {};

TEST_P(SplitCounters, StructuralCountsAreExactAndAllInstructionsClose) {
  const Measured& point = GetParam();
  const trace::Trace built = kernels::find_kernel(point.kernel).build(problem_of(point), kH200);
  const Counted counted{trace::executed_instructions(built.launches.at(0))};
  EXPECT_EQ(counted.of("HMMA"), point.hmma);
  EXPECT_EQ(counted.of("LDSM"), point.ldsm);
  EXPECT_EQ(counted.of("LDGSTS"), point.ldgsts);
  EXPECT_NEAR(counted.of(trace::Pipe::xu) / point.xu, 1, 0.001);
  EXPECT_NEAR(static_cast<double>(trace::total(counted.opcodes)) / point.instructions, 1, 0.02);
  ASSERT_EQ(built.launches.size(), point.combining > 0 ? 2U : 1U);
  if (point.combining > 0) {
    const auto combining = trace::total(trace::executed_instructions(built.launches.at(1)));
    EXPECT_NEAR(static_cast<double>(combining) / point.combining, 1, 0.10);
  }
}

INSTANTIATE_TEST_SUITE_P(H200, SplitCounters, testing::ValuesIn(kMeasured), [](const auto& parameter) {
  const Measured& point = parameter.param;
  return std::string(point.kernel) + "_q" + std::to_string(point.seqlen_q) + "_k" +
         std::to_string(point.seqlen_k) + "_d" + std::to_string(point.head_dim) + "_splits" +
         std::to_string(point.splits);
});

}  // namespace
}  // namespace warpscope::tests
