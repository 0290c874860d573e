// FlashAttention-2 with lengths of their own, dropout and pages against hardware counters: Nsight Compute on
// one H200 SXM, fp16 (experiments/reference/measured-h200/counters_options.md).
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/kernel.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/counted_instructions.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::Problem;

const std::vector<std::int64_t> kFour = {512, 1024, 2048, 4096};
const std::vector<std::int64_t> kEight = {300, 4000, 77, 1500, 2900, 640, 1, 1000};
const std::vector<std::int64_t> kSixteen = {37,   1900, 512, 250, 4096, 90,  1024, 777,
                                            3000, 64,   333, 128, 2500, 800, 1500, 5};

struct Measured {
  std::string_view name, kernel;
  Problem problem;
  double instructions, hmma, ldsm, ldgsts, xu;
};

Problem with_lengths(const std::vector<std::int64_t>& lengths, std::int64_t longest, std::int64_t heads,
                     std::int64_t heads_kv, std::int64_t head_dim, bool causal) {
  Problem problem{std::ssize(lengths), heads, heads_kv, longest, longest, head_dim, causal};
  problem.seqlens = lengths;
  return problem;
}

Problem with_dropout(Problem problem, double dropout) {
  problem.dropout = dropout;
  return problem;
}

Problem with_pages(Problem problem, std::int64_t splits, std::int64_t page_size) {
  problem.num_splits = splits;
  problem.page_size = page_size;
  return problem;
}

// clang-format off
std::vector<Measured> measured() {
  return {
      {"four_lengths", "fa2", with_lengths(kFour, 4096, 16, 16, 128, false), 168639744, 44564480, 13926400, 2846720, 11864320},
      {"eight_lengths", "fa2", with_lengths(kEight, 4000, 16, 16, 64, true), 83999376, 15417344, 4336128, 1007104, 7987648},
      {"many_lengths", "fa2", with_lengths(kSixteen, 4096, 32, 8, 64, false), 459305056, 84049920, 23639040, 5395456, 43462784},
      {"dropout_128", "fa2", with_dropout({4, 16, 16, 2048, 2048, 128, false}, 0.1), 185442304, 33554432, 12582912, 2162688, 9465856},
      {"dropout_64", "fa2", with_dropout({4, 16, 16, 2048, 2048, 64, false}, 0.1), 120938496, 16777216, 5242880, 1081344, 8941568},
      {"dropout_64_causal", "fa2", with_dropout({2, 16, 16, 4096, 4096, 64, true}, 0.17), 125581184, 17301504, 5406720, 1114112, 9220096},
      {"pages_128", "fa2", with_pages({4, 32, 8, 1, 8192, 128, false}, 7, 256), 8715648, 2097152, 1114112, 269312, 596992},
      {"pages_64", "fa2", with_pages({4, 16, 4, 1, 16384, 64, false}, 16, 256), 6366208, 1048576, 540672, 135168, 565248},
      {"pages_one_part", "fa2_kvcache", with_pages({64, 32, 8, 1, 4096, 128, false}, 1, 256), 81665024, 16777216, 9437184, 2113536, 5246976},
  };
}
// clang-format on

class OptionCounters : public testing::TestWithParam<Measured> {};

TEST_P(OptionCounters, StructuralCountsAreExactAndAllInstructionsClose) {
  const Measured& point = GetParam();
  const trace::Trace built = kernels::find_kernel(point.kernel).build(point.problem, kH200);
  const Counted counted{trace::executed_instructions(built.launches.at(0))};
  EXPECT_EQ(counted.of("HMMA"), point.hmma);
  EXPECT_EQ(counted.of("LDSM"), point.ldsm);
  EXPECT_EQ(counted.of("LDGSTS"), point.ldgsts);
  EXPECT_NEAR(counted.of(trace::Pipe::xu) / point.xu, 1, 0.006);
  EXPECT_NEAR(static_cast<double>(trace::total(counted.opcodes)) / point.instructions, 1, 0.03);
}

INSTANTIATE_TEST_SUITE_P(H200, OptionCounters, testing::ValuesIn(measured()),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

// Of every 16 x 32 weights of a warp: 8 pairs of random bytes, 20 logic operations to cut weights and 11 of
// Philox.
TEST(DropoutCounts, AreThoseOfTheSource) {
  const auto count = [](double dropout, std::string_view opcode) {
    Problem problem{1, 1, 1, 2048, 2048, 64, false};
    problem.dropout = dropout;
    const trace::Trace built = kernels::find_kernel("fa2").build(problem, kH200);
    return Counted{trace::executed_instructions(built.launches.at(0))}.of(opcode);
  };
  const double calls = (2048.0 / 16) * (2048.0 / 32);
  EXPECT_EQ(count(0.1, "PRMT"), 8 * calls);
  EXPECT_GT(count(0.1, "LOP3") - count(0, "LOP3"), 31 * calls);
  EXPECT_EQ(count(0, "PRMT"), 0);
}

}  // namespace
}  // namespace warpscope::tests
