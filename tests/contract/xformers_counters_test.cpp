// Memory-efficient attention's forward launches against hardware counters: Nsight Compute on one H200 SXM,
// PyTorch 2.11, fp16 (experiments/reference/measured-h200/counters_xformers.csv).
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "kernels/kernel.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/counted_instructions.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using trace::Opcode;
using trace::Pipe;

struct Counters {
  double instructions, hmma, ldsm, ldgsts, xu, alu, fma, lsu, shared_loads, shared_stores;
};

struct Measured {
  std::int64_t batch, heads, seqlen, head_dim;
  bool causal;
  Counters counters;
};

// clang-format off
constexpr std::array kMeasured = std::to_array<Measured>({
    {32, 32, 512, 64, false, {346128104, 33554432, 9437184, 3145728, 8951824, 127831980, 102651868, 33270444, 5920784, 7614496}},
    {32, 32, 512, 64, true, {209555119, 18874368, 5308416, 1769472, 5169311, 80279640, 60791349, 19381495, 3514527, 4522302}},
    {8, 32, 2048, 64, false, {1321698215, 134217728, 37748736, 12582912, 34569733, 488561539, 394745235, 127793590, 22101509, 28179464}},
    {8, 32, 2048, 64, true, {698167847, 69206016, 19464192, 6488064, 18030030, 260951917, 207091927, 66800596, 11656654, 14908316}},
    {2, 32, 8192, 64, false, {5212271464, 536870912, 150994944, 50331648, 135869079, 1930309592, 1558431645, 502372442, 85652119, 108094766}},
    {2, 32, 8192, 64, true, {2645365376, 270532608, 76087296, 25362432, 68861973, 982072455, 789676231, 254640645, 43614229, 55230504}},
    {32, 16, 512, 128, false, {216485377, 33554432, 8912896, 2621440, 4492562, 72649603, 56865598, 23533098, 3288338, 4036890}},
    {32, 16, 512, 128, true, {144410125, 19922944, 5308416, 1638400, 2868737, 51483936, 37431150, 14868559, 2156033, 2706284}},
    {8, 16, 2048, 128, false, {811890001, 134217728, 35651584, 10485760, 17302403, 269877787, 215452956, 90067218, 12166019, 14321174}},
    {8, 16, 2048, 128, true, {442631729, 70254592, 18677760, 5570560, 9295809, 150374971, 116859392, 48201042, 6617025, 7892606}},
    {2, 16, 8192, 128, false, {3187611948, 536870912, 142606336, 41943040, 67953766, 1058202303, 847450238, 354434255, 47088742, 54282162}},
    {2, 16, 8192, 128, true, {1631468974, 271581184, 72155136, 21299200, 34711187, 544690716, 433228370, 180654982, 24168083, 28052524}},
    {8, 32, 2048, 32, false, {1261918180, 100663296, 29360128, 12582912, 34567929, 482269297, 389496156, 118352257, 22099705, 28175858}},
    {4, 8, 1000, 64, false, {41989263, 4194304, 1179648, 393216, 1095116, 15507541, 12509593, 4057688, 709068, 908184}},
    {4, 8, 1000, 64, true, {23286722, 2228224, 626688, 208896, 591529, 8787243, 6850310, 2200401, 389801, 500050}},
    {4, 8, 1000, 128, false, {51897034, 8388608, 2228224, 655360, 1097111, 17300903, 13723228, 5722497, 782743, 936718}},
    {4, 8, 1000, 128, true, {30492724, 4587520, 1220608, 368640, 626749, 10567019, 7991816, 3248227, 455741, 555118}},
    {8, 8, 2048, 256, false, {791618572, 134217728, 35127296, 22806528, 8716785, 239399247, 165644120, 123913791, 30855665, 15287158}},
    {8, 8, 2048, 256, true, {423646272, 69730304, 18268160, 12115968, 4713709, 129864020, 89093966, 65331876, 16407789, 8141172}},
});
// clang-format on

Counted count(const Measured& point) {
  const trace::Trace built = kernels::find_kernel("xformers")
                                 .build({point.batch, point.heads, point.heads, point.seqlen, point.seqlen,
                                         point.head_dim, point.causal},
                                        kH200);
  return {trace::executed_instructions(built.launches.at(0))};
}

void expect_within(double counted, double measured, double percent, std::string_view what) {
  EXPECT_NEAR(counted / measured, 1.0, percent / 100) << what << ": " << counted << " against " << measured;
}

// Hardware executes copies of slices of Q and K that are not there, predicated off: up to head dimension 32,
// and behind the last slice where the slices do not all have room.
bool copies_all_slices(const Measured& point) {
  return point.head_dim == 64 || point.head_dim == 128;
}

class XformersCounters : public testing::TestWithParam<Measured> {};

TEST_P(XformersCounters, ProductsAndCopiesAreExact) {
  const Counted counted = count(GetParam());
  const Counters& measured = GetParam().counters;
  EXPECT_EQ(counted.of("HMMA.1688.F32"), measured.hmma);
  EXPECT_EQ(counted.of("HMMA"), measured.hmma) << "no other shape";
  if (copies_all_slices(GetParam())) {
    EXPECT_EQ(counted.of("LDGSTS"), measured.ldgsts);
  }
}

TEST_P(XformersCounters, AllInstructionsAndPipesAreClose) {
  const Counted counted = count(GetParam());
  const Counters& measured = GetParam().counters;
  expect_within(static_cast<double>(trace::total(counted.opcodes)), measured.instructions, 2, "instructions");
  expect_within(counted.of("LDSM"), measured.ldsm, 0.2, "LDSM");
  // A thread normalises 8 rows of the output, in CUTLASS' arrangement of 128 columns only 4.
  expect_within(counted.of(Pipe::xu), measured.xu, 7, "XU");
  expect_within(counted.of(Pipe::alu), measured.alu, 3, "ALU");
  // The pipe's counter has 20 a key block more than its instructions in the machine code.
  expect_within(counted.of(Pipe::fma), measured.fma, 5, "FMA");
  if (copies_all_slices(GetParam())) {
    expect_within(counted.of(Pipe::lsu), measured.lsu, 5, "LSU");
  }
  expect_within(counted.of("LDS") - counted.of("LDSM"), measured.shared_loads, 15, "shared loads");
  // 2.3 of 26 are predicated off or of one branch of two: what they would restore is never lost here.
  expect_within(counted.of("STS"), measured.shared_stores, 9.5, "shared stores");
}

INSTANTIATE_TEST_SUITE_P(H200, XformersCounters, testing::ValuesIn(kMeasured), [](const auto& parameter) {
  const Measured& point = parameter.param;
  return "N" + std::to_string(point.seqlen) + "_d" + std::to_string(point.head_dim) +
         (point.causal ? "_causal" : "_full");
});

struct Iteration {
  int head_dim;
  int keys;
  int warps;
  int barriers;
};

class XformersIteration : public testing::TestWithParam<Iteration> {};

TEST_P(XformersIteration, FollowsFromTheTile) {
  const Iteration& tile = GetParam();
  const auto executed = [&](int blocks) {
    return trace::executed_instructions(
        kernels::find_kernel("xformers")
            .build({1, 1, 1, 64, std::int64_t{blocks} * tile.keys, tile.head_dim, false}, kH200)
            .launches[0]);
  };
  const trace::OpcodeCounts more = executed(9);
  const trace::OpcodeCounts fewer = executed(8);
  const auto of = [&](Opcode opcode) {
    return static_cast<int>(more.at(opcode) - fewer.at(opcode)) / tile.warps;
  };
  const int slices = tile.head_dim / 32 + tile.keys / 32;
  EXPECT_EQ(of(Opcode::HMMA_1688_F32), 32 * slices);
  EXPECT_EQ(of(Opcode::LDGSTS_128), (64 + 2 * tile.keys) * tile.head_dim * 2 / (512 * tile.warps))
      << "Q, K and V";
  EXPECT_EQ(of(Opcode::LDSM_X4) + of(Opcode::LDSM_T_X4), 8 * slices + 4) << "and two ahead of each end";
  EXPECT_EQ(of(Opcode::BAR_SYNC), tile.barriers);
  EXPECT_EQ(of(Opcode::BAR_SYNC), 10 + slices);
  EXPECT_EQ(of(Opcode::LDGDEPBAR), 2 * slices) << "one group per copied slice, one empty per product";
  EXPECT_EQ(of(Opcode::DEPBAR_LE), 2 + slices);
  EXPECT_EQ(of(Opcode::ATOMS_MAX), 4) << "one per row";
  EXPECT_EQ(of(Opcode::FMNMX), 32);
  EXPECT_EQ(of(Opcode::MUFU_EX2), 32 + 1) << "scores, and the correction of one row";
  EXPECT_EQ(of(Opcode::FADD), 32 + 32 + 8 + 1 + tile.keys / 32) << "x - m, sums, shuffles, rows";
  EXPECT_EQ(of(Opcode::FMUL), 2 * 32 + 32 + 2 * 33 + 1) << "two scalings, O, exp2f, rows";
  EXPECT_EQ(of(Opcode::SHFL_BFLY), 8);
  EXPECT_EQ(of(Opcode::F2FP_PACK_AB), 16);
  EXPECT_EQ(of(Opcode::STS_32), 16 + 4 + 4) << "P, parts of the sums, rows";
  EXPECT_EQ(of(Opcode::LDS_32), 8 + 5 + tile.keys / 32 + 6) << "factors, rows, parts, and six dead ones";
}

INSTANTIATE_TEST_SUITE_P(Tiles, XformersIteration,
                         testing::Values(Iteration{64, 64, 4, 14}, Iteration{128, 128, 8, 18}),
                         [](const auto& parameter) {
                           return "d" + std::to_string(parameter.param.head_dim);
                         });

TEST(XformersCounts, QueriesAreReadAgainForEveryKeyBlock) {
  const kernels::Problem problem{1, 2, 2, 512, 1024, 64, false};
  const trace::Trace built = kernels::find_kernel("xformers").build(problem, kH200);
  const auto bytes = trace::requested_bytes(built);
  const std::uint64_t tensor = 2U * 512U * 64U * 2U;
  EXPECT_EQ(bytes.at(0).read, tensor * (1024 / 64)) << "Q";
  EXPECT_EQ(bytes.at(1).read, 2 * tensor * (512 / 64)) << "K, once per block of queries";
  EXPECT_EQ(bytes.at(2).read, 2 * tensor * (512 / 64)) << "V";
  EXPECT_EQ(bytes.at(3).written, tensor) << "O";
}

}  // namespace
}  // namespace warpscope::tests
