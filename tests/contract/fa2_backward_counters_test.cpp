// FA2 backward launches against hardware counters: Nsight Compute on one H200 SXM, fp16, 16384 tokens, hidden
// size 2048.
#include <gtest/gtest.h>

#include <array>
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
  double instructions, hmma, ldsm, ldgsts, red, shared_stores, xu, alu, fma, lsu;
};

/// One launch of a call. The small ones before and behind the main one are 0 and 2; HMMA is that of main
/// ones.
struct Measured {
  std::string_view kernel;
  std::int64_t batch, heads, seqlen, head_dim;
  bool causal;
  std::size_t launch;
  Counters counters;
};

// clang-format off
constexpr std::array kMeasured = std::to_array<Measured>({
    {"fa2", 32, 32, 512, 64, false, 0, {12845056, 0, 0, 0, 0, 0, 0, 4390912, 6094848, 1146880}},
    {"fa2", 32, 32, 512, 64, false, 1, {166363136, 41943040, 18874368, 1310720, 4194304, 9437184, 8486912, 30310400, 38699008, 37978112}},
    {"fa2", 32, 32, 512, 64, false, 2, {14123008, 0, 0, 0, 0, 524288, 0, 5177344, 5275648, 1966080}},
    {"fa2", 16, 32, 1024, 64, false, 0, {12845056, 0, 0, 0, 0, 0, 0, 4390912, 6094848, 1146880}},
    {"fa2", 16, 32, 1024, 64, false, 1, {309755904, 83886080, 37748736, 2359296, 8388608, 17825792, 16875520, 52461568, 70942720, 72974336}},
    {"fa2", 16, 32, 1024, 64, false, 2, {14123008, 0, 0, 0, 0, 524288, 0, 5177344, 5275648, 1966080}},
    {"fa2", 2, 32, 8192, 64, false, 0, {12845056, 0, 0, 0, 0, 0, 0, 4390912, 6094848, 1146880}},
    {"fa2", 2, 32, 8192, 64, false, 1, {2317254656, 671088640, 301989888, 17039360, 67108864, 135266304, 134316032, 362577920, 522354688, 562921472}},
    {"fa2", 2, 32, 8192, 64, false, 2, {14123008, 0, 0, 0, 0, 524288, 0, 5177344, 5275648, 1966080}},
    {"fa2", 32, 32, 512, 64, true, 0, {12845056, 0, 0, 0, 0, 0, 0, 4390912, 6094848, 1146880}},
    {"fa2", 32, 32, 512, 64, true, 1, {126140416, 26214400, 11796480, 917504, 2621440, 6291456, 5341184, 32505856, 29212672, 24559616}},
    {"fa2", 32, 32, 512, 64, true, 2, {14123008, 0, 0, 0, 0, 524288, 0, 5177344, 5275648, 1966080}},
    {"fa2", 16, 32, 1024, 64, true, 0, {12845056, 0, 0, 0, 0, 0, 0, 4390912, 6094848, 1146880}},
    {"fa2", 16, 32, 1024, 64, true, 1, {207863808, 47185920, 21233664, 1441792, 4718592, 10485760, 9535488, 51773440, 47235072, 41926656}},
    {"fa2", 16, 32, 1024, 64, true, 2, {14123008, 0, 0, 0, 0, 524288, 0, 5177344, 5275648, 1966080}},
    {"fa2", 2, 32, 8192, 64, true, 0, {12845056, 0, 0, 0, 0, 0, 0, 4390912, 6094848, 1146880}},
    {"fa2", 2, 32, 8192, 64, true, 1, {1351991296, 340787200, 153354240, 8781824, 34078720, 69206016, 68255744, 321519616, 299548672, 285065216}},
    {"fa2", 2, 32, 8192, 64, true, 2, {14123008, 0, 0, 0, 0, 524288, 0, 5177344, 5275648, 1966080}},
    {"fa2", 32, 16, 512, 128, false, 0, {12058624, 0, 0, 0, 0, 0, 0, 4096000, 5373952, 884736}},
    {"fa2", 32, 16, 512, 128, false, 1, {128008192, 41943040, 18874368, 1310720, 4194304, 5242880, 4243456, 21233664, 21512192, 32489472}},
    {"fa2", 32, 16, 512, 128, false, 2, {13041664, 0, 0, 0, 0, 524288, 0, 4816896, 4849664, 1966080}},
    {"fa2", 16, 16, 1024, 128, false, 0, {12058624, 0, 0, 0, 0, 0, 0, 4096000, 5373952, 884736}},
    {"fa2", 16, 16, 1024, 128, false, 1, {242696192, 83886080, 37748736, 2359296, 8388608, 9437184, 8437760, 37355520, 39337984, 63029248}},
    {"fa2", 16, 16, 1024, 128, false, 2, {13041664, 0, 0, 0, 0, 524288, 0, 4816896, 4849664, 1966080}},
    {"fa2", 2, 16, 8192, 128, false, 0, {12058624, 0, 0, 0, 0, 0, 0, 4096000, 5373952, 884736}},
    {"fa2", 2, 16, 8192, 128, false, 1, {1848328192, 671088640, 301989888, 17039360, 67108864, 68157440, 67158016, 263061504, 288899072, 490586112}},
    {"fa2", 2, 16, 8192, 128, false, 2, {13041664, 0, 0, 0, 0, 524288, 0, 4816896, 4849664, 1966080}},
    {"fa2", 32, 16, 512, 128, true, 0, {12058624, 0, 0, 0, 0, 0, 0, 4096000, 5373952, 884736}},
    {"fa2", 32, 16, 512, 128, true, 1, {92307456, 26214400, 11796480, 917504, 2621440, 3670016, 2670592, 20267008, 16809984, 21102592}},
    {"fa2", 32, 16, 512, 128, true, 2, {13041664, 0, 0, 0, 0, 524288, 0, 4816896, 4849664, 1966080}},
    {"fa2", 16, 16, 1024, 128, true, 0, {12058624, 0, 0, 0, 0, 0, 0, 4096000, 5373952, 884736}},
    {"fa2", 16, 16, 1024, 128, true, 1, {155025408, 47185920, 21233664, 1441792, 4718592, 5767168, 4767744, 32325632, 27230208, 36372480}},
    {"fa2", 16, 16, 1024, 128, true, 2, {13041664, 0, 0, 0, 0, 524288, 0, 4816896, 4849664, 1966080}},
    {"fa2", 2, 16, 8192, 128, true, 0, {12058624, 0, 0, 0, 0, 0, 0, 4096000, 5373952, 884736}},
    {"fa2", 2, 16, 8192, 128, true, 1, {1033076736, 340787200, 153354240, 8781824, 34078720, 35127296, 34127872, 201146368, 173113344, 250150912}},
    {"fa2", 2, 16, 8192, 128, true, 2, {13041664, 0, 0, 0, 0, 524288, 0, 4816896, 4849664, 1966080}},
    {"fa2_torch", 32, 32, 512, 64, false, 0, {12451840, 0, 0, 0, 0, 0, 0, 4161536, 5931008, 1146880}},
    {"fa2_torch", 32, 32, 512, 64, false, 1, {201261056, 41943040, 18874368, 1310720, 4194304, 9437184, 8486912, 39419904, 63897600, 38535168}},
    {"fa2_torch", 32, 32, 512, 64, false, 2, {13533184, 0, 0, 0, 0, 524288, 0, 4489216, 4521984, 1966080}},
    {"fa2_torch", 2, 32, 8192, 64, false, 0, {12451840, 0, 0, 0, 0, 0, 0, 4161536, 5931008, 1146880}},
    {"fa2_torch", 2, 32, 8192, 64, false, 1, {2879062016, 671088640, 301989888, 17039360, 67108864, 135266304, 134316032, 511279104, 928972800, 569376768}},
    {"fa2_torch", 2, 32, 8192, 64, false, 2, {13533184, 0, 0, 0, 0, 524288, 0, 4489216, 4521984, 1966080}},
    {"fa2_torch", 32, 32, 512, 64, true, 0, {12451840, 0, 0, 0, 0, 0, 0, 4161536, 5931008, 1146880}},
    {"fa2_torch", 32, 32, 512, 64, true, 1, {146948096, 26214400, 11796480, 917504, 2621440, 6291456, 5341184, 39993344, 42565632, 24494080}},
    {"fa2_torch", 32, 32, 512, 64, true, 2, {13533184, 0, 0, 0, 0, 524288, 0, 4489216, 4521984, 1966080}},
    {"fa2_torch", 2, 32, 8192, 64, true, 0, {12451840, 0, 0, 0, 0, 0, 0, 4161536, 5931008, 1146880}},
    {"fa2_torch", 2, 32, 8192, 64, true, 1, {1624457216, 340787200, 153354240, 8781824, 34078720, 69206016, 68255744, 418463744, 475103232, 284999680}},
    {"fa2_torch", 2, 32, 8192, 64, true, 2, {13533184, 0, 0, 0, 0, 524288, 0, 4489216, 4521984, 1966080}},
    {"fa2_torch", 32, 16, 512, 128, false, 0, {11632640, 0, 0, 0, 0, 0, 0, 3833856, 5210112, 884736}},
    {"fa2_torch", 32, 16, 512, 128, false, 1, {144801792, 41943040, 18874368, 1310720, 4194304, 5242880, 4243456, 25444352, 34029568, 32522240}},
    {"fa2_torch", 32, 16, 512, 128, false, 2, {11894784, 0, 0, 0, 0, 524288, 0, 3801088, 3801088, 1966080}},
    {"fa2_torch", 2, 16, 8192, 128, false, 0, {11632640, 0, 0, 0, 0, 0, 0, 3833856, 5210112, 884736}},
    {"fa2_torch", 2, 16, 8192, 128, false, 1, {2116780032, 671088640, 301989888, 17039360, 67108864, 68157440, 67158016, 330186752, 490160128, 490618880}},
    {"fa2_torch", 2, 16, 8192, 128, false, 2, {11894784, 0, 0, 0, 0, 524288, 0, 3801088, 3801088, 1966080}},
    {"fa2_torch", 32, 16, 512, 128, true, 0, {11632640, 0, 0, 0, 0, 0, 0, 3833856, 5210112, 884736}},
    {"fa2_torch", 32, 16, 512, 128, true, 1, {102760448, 26214400, 11796480, 917504, 2621440, 3670016, 2670592, 24788992, 22724608, 21102592}},
    {"fa2_torch", 32, 16, 512, 128, true, 2, {11894784, 0, 0, 0, 0, 524288, 0, 3801088, 3801088, 1966080}},
    {"fa2_torch", 2, 16, 8192, 128, true, 0, {11632640, 0, 0, 0, 0, 0, 0, 3833856, 5210112, 884736}},
    {"fa2_torch", 2, 16, 8192, 128, true, 1, {1169358848, 340787200, 153354240, 8781824, 34078720, 35127296, 34127872, 259735552, 250789888, 250150912}},
    {"fa2_torch", 2, 16, 8192, 128, true, 2, {11894784, 0, 0, 0, 0, 524288, 0, 3801088, 3801088, 1966080}},
});
// clang-format on

Counted count(const Measured& point) {
  kernels::Problem problem{point.batch,  point.heads,    point.heads, point.seqlen,
                           point.seqlen, point.head_dim, point.causal};
  problem.pass = kernels::Pass::backward;
  const trace::Trace built = kernels::find_kernel(point.kernel).build(problem, kH200);
  return {trace::executed_instructions(built.launches.at(point.launch))};
}

void expect_within(double counted, double measured, double percent, std::string_view what) {
  EXPECT_NEAR(counted, measured, measured * percent / 100) << what;
}

class Fa2BackwardCounters : public testing::TestWithParam<Measured> {};

TEST_P(Fa2BackwardCounters, StructuralCountsAreExact) {
  const Counted counted = count(GetParam());
  const Counters& measured = GetParam().counters;
  EXPECT_EQ(counted.of("HMMA"), measured.hmma);
  EXPECT_EQ(counted.of("LDSM"), measured.ldsm);
  EXPECT_EQ(counted.of("LDGSTS"), measured.ldgsts);
  EXPECT_EQ(counted.of("RED"), measured.red);
  EXPECT_EQ(counted.of("STS"), measured.shared_stores);
  if (measured.hmma > 0) {
    expect_within(counted.of(Pipe::xu), measured.xu, 0.1, "XU");
  }
}

// Totals are in-sample at 512 and 8192 tokens, and exact; at 1024 they follow.
TEST_P(Fa2BackwardCounters, AllInstructionsAndPipesAreClose) {
  const Counted counted = count(GetParam());
  const Counters& measured = GetParam().counters;
  expect_within(static_cast<double>(trace::total(counted.opcodes)), measured.instructions, 0.1,
                "instructions");
  expect_within(counted.of(Pipe::alu), measured.alu, 9, "ALU");
  expect_within(counted.of(Pipe::fma), measured.fma, 7, "FMA");
  expect_within(counted.of(Pipe::lsu), measured.lsu, 12, "LSU");
}

INSTANTIATE_TEST_SUITE_P(H200, Fa2BackwardCounters, testing::ValuesIn(kMeasured), [](const auto& parameter) {
  const Measured& point = parameter.param;
  return std::string(point.kernel) + "_N" + std::to_string(point.seqlen) + "_d" +
         std::to_string(point.head_dim) + (point.causal ? "_causal" : "_full") + "_launch" +
         std::to_string(point.launch);
});

}  // namespace
}  // namespace warpscope::tests
