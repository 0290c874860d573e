// Instructions and bytes of FlashAttention-1's launch against hardware counters and against its structure.
#include <gtest/gtest.h>

#include <cmath>
#include <initializer_list>
#include <map>
#include <string>

#include "kernels/fa1/fa1.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::Problem;
using trace::Opcode;
using trace::Pipe;

/// Warp instructions of one launch, in thousands. Source: Nsight Compute on an H200 SXM, FlashAttention 1.0.9
/// compiled for sm_90, fp16, 16384 tokens of 2048 / head_dim heads.
struct Measured {
  std::int64_t seqlen;
  std::int64_t head_dim;
  bool causal;
  double total, hmma, ldsm, xu, alu, fma, lsu, shared_loads, shared_stores;
};

constexpr Measured kMeasured[] = {
    {512, 64, false, 138486, 16777.2, 1318.9, 10354.7, 39505.9, 45604.9, 18681.9, 3932.2, 6037.5},
    {8192, 64, false, 2326492, 268435.5, 17858.6, 171573.2, 641013.8, 767745.0, 304350.2, 66846.7, 97288.2},
    {512, 64, true, 111657, 12582.9, 1056.8, 7680.0, 37167.1, 34320.4, 14028.8, 2883.6, 4530.2},
    {8192, 64, true, 1321631, 138412.0, 9732.1, 88372.2, 421218.3, 439642.1, 158078.0, 34340.9, 50561.0},
    {512, 128, false, 168706, 16777.2, 2367.5, 7798.8, 40730.6, 57778.2, 32057.3, 7602.2, 10633.2},
    {8192, 128, false, 2776588, 268435.5, 35717.1, 129695.7, 648126.5, 971743.2, 517801.0, 125567.0,
     169869.3},
    {512, 128, true, 107602, 10485.8, 1581.1, 4769.8, 27834.4, 35659.8, 20252.7, 4653.1, 6701.1},
    {8192, 128, true, 1460806, 136314.9, 19202.0, 65893.4, 369977.3, 497793.0, 268142.6, 63635.5, 87294.0},
};

Problem problem_of(std::int64_t seqlen, std::int64_t head_dim, bool causal) {
  const std::int64_t heads = 2048 / head_dim;
  return {16384 / seqlen, heads, heads, seqlen, seqlen, head_dim, causal};
}

double of_opcodes(const trace::OpcodeCounts& counts, std::initializer_list<Opcode> opcodes) {
  double sum = 0;
  for (const Opcode opcode : opcodes) {
    sum += counts.contains(opcode) ? static_cast<double>(counts.at(opcode)) : 0;
  }
  return sum / 1000;
}

double of_pipe(const trace::OpcodeCounts& counts, Pipe pipe) {
  double sum = 0;
  for (const auto& [opcode, count] : counts) {
    sum += trace::info(opcode).pipe == pipe ? static_cast<double>(count) : 0;
  }
  return sum / 1000;
}

TEST(Fa1Counts, InstructionsAgreeWithCounters) {
  for (const Measured& want : kMeasured) {
    SCOPED_TRACE(testing::Message() << want.seqlen << " d" << want.head_dim
                                    << (want.causal ? " causal" : ""));
    const trace::Trace built =
        kernels::find_kernel("fa1").build(problem_of(want.seqlen, want.head_dim, want.causal), kH200);
    const trace::OpcodeCounts got = trace::executed_instructions(built);
    EXPECT_NEAR(static_cast<double>(trace::total(got)) / 1000 / want.total, 1, 0.01);
    EXPECT_NEAR(of_pipe(got, Pipe::tensor) / want.hmma, 1, 1e-5);
    EXPECT_NEAR(of_opcodes(got, {Opcode::LDSM_X4, Opcode::LDSM_T_X4}) / want.ldsm, 1, 0.01);
    EXPECT_NEAR(of_pipe(got, Pipe::xu) / want.xu, 1, 0.01);
    EXPECT_NEAR(of_pipe(got, Pipe::alu) / want.alu, 1, 0.02);
    EXPECT_NEAR(of_pipe(got, Pipe::fma) / want.fma, 1, 0.02);
    EXPECT_NEAR(of_pipe(got, Pipe::lsu) / want.lsu, 1, 0.02);
    EXPECT_NEAR(of_opcodes(got, {Opcode::LDS_32, Opcode::LDS_64, Opcode::LDS_128}) / want.shared_loads, 1,
                1e-4);
    EXPECT_NEAR(of_opcodes(got, {Opcode::STS_32, Opcode::STS_64, Opcode::STS_128}) / want.shared_stores, 1,
                1e-4);
    EXPECT_EQ(of_opcodes(got, {Opcode::LDGSTS_128}), 0);
  }
}

TEST(Fa1Counts, BytesFollowFromTheStructure) {
  for (const std::int64_t d : {64, 128}) {
    const Problem problem = problem_of(8192, d, false);
    const trace::Trace built = kernels::find_kernel("fa1").build(problem, kH200);
    const auto bytes = trace::requested_bytes(built);
    std::map<std::string, trace::RequestedBytes> by_name;
    for (std::size_t i = 0; i < built.tensors.size(); ++i) {
      by_name[built.tensors[i].name] = bytes[i];
    }
    const auto tensor = static_cast<double>(problem.batch * problem.heads * problem.seqlen_q * d * 2);
    const double key_blocks = static_cast<double>(problem.seqlen_k) / (d == 64 ? 256 : 128);
    const double splits = built.launches.at(0).grid[2];
    // Q once per key block and CTA, plus one step per block that is asked for beyond the end and never moved.
    EXPECT_NEAR(static_cast<double>(by_name["Q"].read) / tensor / key_blocks, 1, 0.02);
    EXPECT_DOUBLE_EQ(static_cast<double>(by_name["K"].read) / tensor, splits);
    EXPECT_DOUBLE_EQ(static_cast<double>(by_name["V"].read) / tensor, splits);
    EXPECT_DOUBLE_EQ(static_cast<double>(by_name["o_tmp"].read) / tensor, 2 * (key_blocks - 1));
    EXPECT_DOUBLE_EQ(static_cast<double>(by_name["o_tmp"].written) / tensor, 2 * (key_blocks - 1));
    EXPECT_DOUBLE_EQ(static_cast<double>(by_name["O"].written) / tensor, 1);
  }
}

TEST(Fa1Counts, TwoBarriersPerStep) {
  // 1024 CTAs of 4 warps run 2 key blocks of 32 steps; staging K and V takes 4 barriers, one more where the
  // block before is still being read.
  const trace::Trace built = kernels::find_kernel("fa1").build(problem_of(512, 64, false), kH200);
  EXPECT_EQ(trace::executed_instructions(built).at(Opcode::BAR_SYNC), 1024U * 4U * (2U * 32U * 2U + 4U + 5U));
}

TEST(Fa1Counts, OneKeyBlockNeedsNoScratch) {
  const trace::Trace built = kernels::find_kernel("fa1").build(problem_of(256, 64, true), kH200);
  for (const trace::Tensor& tensor : built.tensors) {
    EXPECT_NE(tensor.name, "o_tmp");
  }
}

}  // namespace
}  // namespace warpscope::tests
