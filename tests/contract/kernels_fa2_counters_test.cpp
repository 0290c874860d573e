// FA2 forward launches against hardware counters: Nsight Compute on one H200 SXM, fp16, 16384 tokens, hidden
// size 2048.
#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "kernels/kernel.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/counted_instructions.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using trace::Pipe;

struct Counters {
  double instructions, hmma, ldsm, ldgsts, xu, alu, fma, lsu, wavefronts;
};

struct Measured {
  std::string_view kernel;
  std::int64_t batch, heads, seqlen, head_dim;
  bool causal;
  Counters counters;
};

// clang-format off
constexpr std::array kMeasured = std::to_array<Measured>({
    {"fa2", 32, 32, 512, 64, false, {88702976, 16777216, 4718592, 1179648, 8765440, 23298048, 25608192, 12533760, 21211705}},
    {"fa2", 16, 32, 1024, 64, false, {165773312, 33554432, 9437184, 2228224, 17416192, 40468480, 47955968, 24199168, 41077245}},
    {"fa2", 2, 32, 8192, 64, false, {1244758016, 268435456, 75497472, 16908288, 138526720, 280854528, 360824832, 187514880, 319504416}},
    {"fa2", 32, 32, 512, 64, true, {65323008, 10485760, 2949120, 786432, 5521408, 19992576, 19152896, 8142848, 13775910}},
    {"fa2", 16, 32, 1024, 64, true, {104071168, 18874368, 5308416, 1310720, 9846784, 28547072, 30330880, 14172160, 23714440}},
    {"fa2", 2, 32, 8192, 64, true, {646330368, 136314880, 38338560, 8650752, 70402048, 148283136, 186768896, 98582528, 162893333}},
    {"fa2", 32, 16, 512, 128, false, {67993600, 16777216, 5242880, 1179648, 4513792, 16171008, 19832832, 9601024, 23162277}},
    {"fa2", 16, 16, 1024, 128, false, {129531904, 33554432, 10485760, 2228224, 8970240, 29736960, 37986304, 17727488, 45075515}},
    {"fa2", 2, 16, 8192, 128, false, {991068160, 268435456, 83886080, 16908288, 71360512, 219660288, 292134912, 131497984, 352034619}},
    {"fa2", 32, 16, 512, 128, true, {49180672, 10485760, 3276800, 786432, 2842624, 13086720, 15036416, 6549504, 14958684}},
    {"fa2", 16, 16, 1024, 128, true, {79861760, 18874368, 5898240, 1310720, 5070848, 19806208, 24115200, 10582016, 25925736}},
    {"fa2", 2, 16, 8192, 128, true, {509262592, 136314880, 42598400, 8650752, 36265984, 113852160, 151191296, 67010304, 179403826}},
    {"fa2_torch", 32, 32, 512, 64, false, {118538240, 16777216, 4718592, 1179648, 8765440, 29917184, 50774016, 10027008, 21286706}},
    {"fa2_torch", 2, 32, 8192, 64, false, {1766113280, 268435456, 75497472, 16908288, 138526720, 428048384, 775274496, 143720448, 318813727}},
    {"fa2_torch", 32, 32, 512, 64, true, {82296832, 10485760, 2949120, 786432, 5521408, 23928832, 33046528, 6893568, 13762457}},
    {"fa2_torch", 2, 32, 8192, 64, true, {898250752, 136314880, 38338560, 8650752, 70402048, 214147072, 395304448, 75710208, 162574121}},
    {"fa2_torch", 32, 16, 512, 128, false, {86646784, 16777216, 5242880, 1179648, 4513792, 20889600, 32833536, 10338304, 23212979}},
    {"fa2_torch", 2, 16, 8192, 128, false, {1285955584, 268435456, 83886080, 16908288, 71360512, 287293440, 502726656, 147963904, 352144316}},
    {"fa2_torch", 32, 16, 512, 128, true, {61462528, 10485760, 3276800, 786432, 2842624, 17727488, 22093824, 6952960, 14970981}},
    {"fa2_torch", 2, 16, 8192, 128, true, {659659648, 136314880, 42598400, 8650752, 36265984, 149946368, 257040384, 75283840, 179482650}},
});
// clang-format on

Counted count(const Measured& point) {
  const trace::Trace built = kernels::find_kernel(point.kernel)
                                 .build({point.batch, point.heads, point.heads, point.seqlen, point.seqlen,
                                         point.head_dim, point.causal},
                                        kH200);
  return {trace::executed_instructions(built.launches.at(0))};
}

void expect_within(double counted, double measured, double percent, std::string_view what) {
  EXPECT_NEAR(counted / measured, 1.0, percent / 100) << what << ": " << counted << " against " << measured;
}

class Fa2Counters : public testing::TestWithParam<Measured> {};

TEST_P(Fa2Counters, StructuralCountsAreExact) {
  const Counted counted = count(GetParam());
  const Counters& measured = GetParam().counters;
  EXPECT_EQ(counted.of("HMMA"), measured.hmma);
  EXPECT_EQ(counted.of("LDSM"), measured.ldsm);
  EXPECT_EQ(counted.of("LDGSTS"), measured.ldgsts);
  expect_within(counted.of(Pipe::xu), measured.xu, 0.1, "XU");
}

TEST_P(Fa2Counters, AllInstructionsAndPipesAreClose) {
  const Counted counted = count(GetParam());
  const Counters& measured = GetParam().counters;
  expect_within(static_cast<double>(trace::total(counted.opcodes)), measured.instructions, 0.3,
                "instructions");
  expect_within(counted.of(Pipe::alu), measured.alu, 4, "ALU");
  expect_within(counted.of(Pipe::fma), measured.fma, 4, "FMA");
  expect_within(counted.of(Pipe::lsu), measured.lsu, 1, "LSU");
  // Matrix loads and 128-bit loads take four passes of the shared-memory path; a copy counts as one.
  const double wavefronts =
      4 * (counted.of("LDSM") + counted.of("LDS.128")) + counted.of("LDGSTS") + counted.of("STS");
  expect_within(wavefronts, measured.wavefronts, 1.1, "shared-memory wavefronts");
}

INSTANTIATE_TEST_SUITE_P(H200, Fa2Counters, testing::ValuesIn(kMeasured), [](const auto& parameter) {
  const Measured& point = parameter.param;
  return std::string(point.kernel) + "_N" + std::to_string(point.seqlen) + "_d" +
         std::to_string(point.head_dim) + (point.causal ? "_causal" : "_full");
});

}  // namespace
}  // namespace warpscope::tests
