// FA1 backward launches against hardware counters: Nsight Compute on one H200 SXM, fp16, 16384 tokens, hidden
// size 2048.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "kernels/kernel.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/counted_instructions.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using trace::Pipe;

struct Counters {
  double instructions, hmma, ldsm, red, shared_stores, shared_loads, xu, alu, fma, lsu;
};

struct Measured {
  std::int64_t batch, heads, seqlen, head_dim;
  bool causal;
  std::string_view launch;  ///< part of its name
  Counters counters;
};

// clang-format off
constexpr std::array kMeasured = std::to_array<Measured>({
    {32, 32, 512, 64, false, "dq_dk_dv_loop", {311795712, 41943040, 23101440, 0, 19144704, 4456448, 8421376, 67354624, 123715584, 52600832}},
    {2, 32, 8192, 64, false, "dot_do_o", {19955712, 0, 0, 0, 0, 0, 0, 5472256, 8880128, 1736704}},
    {2, 32, 8192, 64, false, "seqparallel", {4575084544, 671088640, 369131520, 33554432, 286523392, 67371008, 134250496, 919732224, 1739489280, 807567360}},
    {32, 32, 512, 64, true, "dq_dk_dv_loop", {246226944, 31457280, 17334272, 0, 14688256, 3407872, 6569984, 58769408, 90144768, 40263680}},
    {2, 32, 8192, 64, true, "dot_do_o", {19955712, 0, 0, 0, 0, 0, 0, 5472256, 8880128, 1736704}},
    {2, 32, 8192, 64, true, "seqparallel", {2480930816, 346030080, 190349312, 17301504, 148373504, 34865152, 77856768, 519815168, 924172288, 417497088}},
    {32, 16, 512, 128, false, "dq_dk_dv_loop", {327602176, 41943040, 30425088, 0, 23355392, 8650752, 4227072, 71385088, 118104064, 68853760}},
    {2, 16, 8192, 128, false, "dot_do_o", {10240000, 0, 0, 0, 0, 0, 0, 2736128, 4571136, 999424}},
    {2, 16, 8192, 128, false, "seqparallel", {4927291392, 671088640, 486555648, 67108864, 353665024, 134479872, 67141632, 961626112, 1823211520, 1092829184}},
    {32, 16, 512, 128, true, "dq_dk_dv_loop", {212217856, 26214400, 19021824, 0, 15097856, 5505024, 3022848, 47636480, 72601600, 44146688}},
    {2, 16, 8192, 128, true, "dot_do_o", {10240000, 0, 0, 0, 0, 0, 0, 2736128, 4571136, 999424}},
    {2, 16, 8192, 128, true, "seqparallel", {2550005760, 340787200, 247087104, 34078720, 180256768, 68419584, 42598400, 524894208, 901480448, 556089344}},
});
// clang-format on

Counted count(const Measured& point) {
  kernels::Problem problem{point.batch,  point.heads,    point.heads, point.seqlen,
                           point.seqlen, point.head_dim, point.causal};
  problem.pass = kernels::Pass::backward;
  const trace::Trace built = kernels::find_kernel("fa1").build(problem, kH200);
  const auto launch = std::ranges::find_if(built.launches, [&](const trace::Launch& one) {
    return one.name.find(point.launch) != std::string::npos;
  });
  return launch == built.launches.end() ? Counted{} : Counted{trace::executed_instructions(*launch)};
}

void expect_within(double counted, double measured, double percent, std::string_view what) {
  EXPECT_NEAR(counted, measured, measured * percent / 100) << what;
}

class Fa1BackwardCounters : public testing::TestWithParam<Measured> {};

TEST_P(Fa1BackwardCounters, StructuralCountsFollowFromTheSource) {
  const Counted counted = count(GetParam());
  const Counters& measured = GetParam().counters;
  EXPECT_EQ(counted.of("HMMA"), measured.hmma);
  EXPECT_EQ(counted.of("RED"), measured.red);
  expect_within(counted.of("LDSM"), measured.ldsm, 0.2, "LDSM");
  expect_within(counted.of("LDS."), measured.shared_loads, 0.01, "LDS");
  expect_within(counted.of("STS"), measured.shared_stores, 0.2, "STS");
}

// counters.csv has 24 sectors for each of FlashAttention-1's and 6 for each of FlashAttention-2's.
TEST(Fa1Backward, EachReductionTouchesTheSectorsOfFourTimesAsManyLanes) {
  const auto bytes_of = [](const char* kernel) {
    const kernels::Problem problem{
        2, 64, 64, 8192, 8192, 128, false, kernels::DataType::fp16, kernels::Pass::backward};
    std::set<std::uint32_t> bytes;
    for (const trace::Launch& launch : kernels::find_kernel(kernel).build(problem, kH200).launches) {
      for (const trace::WarpProgram& program : launch.programs) {
        for (const trace::Instruction& instruction : program.code) {
          if (instruction.opcode == trace::Opcode::RED_ADD_F32) {
            bytes.insert(program.memory_operands.at(instruction.memory).bytes);
          }
        }
      }
    }
    return bytes;
  };
  EXPECT_EQ(bytes_of("fa1"), std::set<std::uint32_t>{512});
  EXPECT_EQ(bytes_of("fa2"), std::set<std::uint32_t>{128});
}

// In-sample: what the source does not show was solved from these launches.
TEST_P(Fa1BackwardCounters, AllInstructionsAndPipesAreClose) {
  const Counted counted = count(GetParam());
  const Counters& measured = GetParam().counters;
  expect_within(static_cast<double>(trace::total(counted.opcodes)), measured.instructions, 0.4,
                "instructions");
  expect_within(counted.of(Pipe::xu), measured.xu, 0.5, "XU");
  expect_within(counted.of(Pipe::alu), measured.alu, 1, "ALU");
  expect_within(counted.of(Pipe::fma), measured.fma, 1, "FMA");
  // The lengths of the sequence are read there, which nobody counts here: 5 instructions.
  expect_within(counted.of(Pipe::lsu), measured.lsu, measured.hmma > 0 ? 0.3 : 10, "LSU");
}

INSTANTIATE_TEST_SUITE_P(H200, Fa1BackwardCounters, testing::ValuesIn(kMeasured), [](const auto& parameter) {
  const Measured& point = parameter.param;
  return std::string(point.launch) + "_N" + std::to_string(point.seqlen) + "_d" +
         std::to_string(point.head_dim) + (point.causal ? "_causal" : "_full");
});

}  // namespace
}  // namespace warpscope::tests
