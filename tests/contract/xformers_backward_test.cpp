// Memory-efficient attention's backward pass: gradients against double precision, and executed instructions
// against hardware counters (counters.csv at 2048 tokens without mask, else counters_xformers_backward.csv).
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <tuple>

#include "experiments/csv/csv.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/numeric/check_numbers.hpp"
#include "kernels/unsupported.hpp"
#include "model/trace/execution_count.hpp"
#include "tests/support/counted_instructions.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::DataType;
using kernels::Pass;
using kernels::Problem;

constexpr Pass kBackward = Pass::backward;

struct Case {
  const char* name;
  Problem problem;
};

const std::array kCases = std::to_array<Case>({
    {"d64", {1, 2, 2, 256, 256, 64, false, DataType::fp16, kBackward}},
    {"d64_causal_bf16", {2, 1, 1, 320, 320, 64, true, DataType::bf16, kBackward}},
    {"d64_one_block", {1, 1, 1, 64, 64, 64, true, DataType::fp16, kBackward}},
    {"d128", {1, 1, 1, 384, 384, 128, false, DataType::fp16, kBackward}},
    {"d128_causal", {1, 1, 1, 256, 256, 128, true, DataType::fp16, kBackward}},
    {"d128_one_block", {1, 1, 1, 128, 128, 128, false, DataType::fp16, kBackward}},
    {"both_passes", {1, 2, 2, 192, 192, 64, true, DataType::fp16, Pass::both}},
    {"both_passes_d128", {1, 1, 1, 256, 256, 128, false, DataType::fp16, Pass::both}},
});

class XformersBackwardNumbers : public testing::TestWithParam<Case> {};

TEST_P(XformersBackwardNumbers, GradientsMeetTheTolerance) {
  const Problem& problem = GetParam().problem;
  for (const kernels::GpuLimits& limits : {kA100, kH200}) {
    const kernels::NumberCheck check = check_numbers(kernels::find_kernel("xformers"), problem, limits);
    EXPECT_EQ(check.outputs.size(), problem.pass == Pass::both ? 4U : 3U);
    for (const kernels::OutputCheck& output : check.outputs) {
      EXPECT_TRUE(output.passed()) << output.tensor << ": " << output.largest_error << " above "
                                   << output.tolerance;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, XformersBackwardNumbers, testing::ValuesIn(kCases),
                         [](const auto& parameter) { return std::string(parameter.param.name); });

TEST(XformersBackward, FailsWithoutZeros) {
  kernels::Kernel kernel = kernels::find_kernel("xformers");
  kernel.plan = [right = kernel.plan](const Problem& problem, const kernels::GpuLimits& limits) {
    kernels::KernelPlan plan = right(problem, limits);
    plan.launches.erase(plan.launches.begin());
    return plan;
  };
  EXPECT_FALSE(check_numbers(kernel, kCases[0].problem, kH200).passed());
}

TEST(XformersBackward, LaunchesAreThoseOfTheCounters) {
  for (const std::int64_t d : {64, 128}) {
    const Problem problem{8, 2048 / d, 2048 / d, 2048, 2048, d, false, DataType::fp16, kBackward};
    const kernels::KernelPlan plan = kernels::find_kernel("xformers").plan(problem, kH200);
    ASSERT_EQ(plan.launches.size(), 2U);
    const kernels::LaunchPlan& launch = plan.launches[1];
    EXPECT_EQ(launch.grid[0], 2048 / d);
    EXPECT_EQ(launch.warps, d == 64 ? 4 : 16);
    EXPECT_EQ(launch.shared_bytes_per_cta, d == 64 ? 44288U : 154112U);
    EXPECT_EQ(launch.registers_per_thread, d == 64 ? 162U : 128U);
  }
}

TEST(XformersBackward, RefusalsSayWhatIsModelled) {
  const auto reason = [](const Problem& problem, const kernels::GpuLimits& limits) {
    try {
      kernels::find_kernel("xformers").plan(problem, limits);
    } catch (const kernels::UnsupportedProblem& refused) {
      return std::string(refused.what());
    }
    return std::string("accepted");
  };
  const auto backward = [](std::int64_t heads, std::int64_t seqlen, std::int64_t d) {
    return Problem{1, heads, heads, seqlen, seqlen, d, false, DataType::fp16, kBackward};
  };
  EXPECT_NE(reason(backward(1, 256, 32), kH200).find("head_dim 64 and 128, not 32"), std::string::npos);
  EXPECT_NE(reason(backward(1, 250, 64), kH200).find("a multiple of 64"), std::string::npos);
  EXPECT_NE(reason(backward(256, 128, 64), kH200).find("a CTA per head"), std::string::npos);
  EXPECT_NE(reason(backward(1, 256, 128), kRtx3090).find("154112 bytes"), std::string::npos);
  EXPECT_EQ(reason(backward(1, 256, 64), kRtx3090), "accepted");
}

Counted counted_main_launch(std::int64_t seqlen, std::int64_t d, const kernels::GpuLimits& limits) {
  const Problem problem{1, 1, 1, seqlen, seqlen, d, false, DataType::fp16, kBackward};
  const trace::Trace built = kernels::find_kernel("xformers").build(problem, limits);
  return {trace::executed_instructions(built.launches.at(1))};
}

// Sums of the rows of experiments/reference/machine-code/xformers_backward.csv that are in the loop over
// queries, and `delta`, which as many blocks execute. What the text has for fences stands for three
// instructions each.
TEST(XformersBackward, StepsOnAnA100AreThoseOfItsMachineCode) {
  for (const auto& [d, instructions, hmma, exponentials] :
       {std::tuple{64, 1724 + 145, 320, 32}, std::tuple{128, 3067 + 149, 640, 32}}) {
    constexpr std::int64_t kBlocks = 64;
    const std::int64_t warps = d == 64 ? 4 : 16;
    const Counted counted = counted_main_launch(kBlocks * d, d, kA100);
    const auto per_step = [&](double count) {
      return count / static_cast<double>(kBlocks * kBlocks * warps);
    };
    EXPECT_EQ(per_step(counted.of("HMMA.1688.F32")), hmma);
    EXPECT_EQ(per_step(counted.of("MUFU.EX2")), exponentials);
    EXPECT_NEAR(per_step(static_cast<double>(trace::total(counted.opcodes))), instructions,
                0.03 * instructions);
  }
}

/// Sum of what a table says of one step and one block of row products; `weight` null: of the column itself.
double step_sum(const std::string& file, std::int64_t block, const char* column, const char* weight) {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/" + file);
  double sum = 0;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto field = [&](const char* name) { return record.fields.at(table.column(name)); };
    const bool per_cta = field("part") == "prologue" || field("part") == "gradients";
    if (std::stoi(field("block")) == block && !per_cta) {
      sum += std::stod(field(column)) * (weight != nullptr ? std::stod(field(weight)) : 1);
    }
  }
  return sum;
}

/// Sum of the stall counts that a warp of the first class executes, by step.
double stall_counts_per_step(std::int64_t blocks, std::int64_t d, const kernels::GpuLimits& limits) {
  const Problem problem{1, 1, 1, blocks * d, blocks * d, d, false, DataType::fp16, kBackward};
  const trace::Trace built = kernels::find_kernel("xformers").build(problem, limits);
  const trace::Launch& launch = built.launches.at(1);
  const trace::CtaClass& cta_class = launch.classes.front();
  const trace::WarpProgram& program = launch.programs.at(cta_class.program_of_warp.front());
  double sum = 0;
  for (const trace::ExecutedStretch& stretch : trace::executed_stretches(program, cta_class)) {
    for (std::uint32_t i = stretch.begin; i < stretch.end; ++i) {
      sum += static_cast<double>(stretch.count) * program.code[i].control.stall_cycles;
    }
  }
  return sum / static_cast<double>(blocks);
}

TEST(XformersBackward, StallCountsOfAStepAreThoseOfItsMachineCode) {
  constexpr std::int64_t kBlocks = 64;
  constexpr double kWithin = 0.05;
  for (const std::int64_t d : {64, 128}) {
    const double ampere = step_sum("machine-code/xformers_backward.csv", d, "executed", "mean_stall");
    EXPECT_NEAR(stall_counts_per_step(kBlocks, d, kA100), ampere, kWithin * ampere) << d;
    const double hopper = step_sum("measured-h200/xformers_backward_parts.csv", d, "stall_counts", nullptr);
    EXPECT_NEAR(stall_counts_per_step(kBlocks, d, kH200), hopper, kWithin * hopper) << d;
  }
}

/// Branches over code that a warp of the first class takes.
std::int64_t jumps(std::int64_t blocks, const kernels::GpuLimits& limits) {
  const Problem problem{1, 1, 1, blocks * 64, blocks * 64, 64, false, DataType::fp16, kBackward};
  const trace::Trace built = kernels::find_kernel("xformers").build(problem, limits);
  const trace::Launch& launch = built.launches.at(1);
  const trace::CtaClass& cta_class = launch.classes.front();
  const trace::WarpProgram& program = launch.programs.at(cta_class.program_of_warp.front());
  std::int64_t sum = 0;
  for (const trace::ExecutedStretch& stretch : trace::executed_stretches(program, cta_class)) {
    sum += static_cast<std::int64_t>(stretch.count) *
           std::count_if(program.code.begin() + stretch.begin, program.code.begin() + stretch.end,
                         [](const trace::Instruction& one) {
                           return one.opcode == trace::Opcode::BRA && one.immediate > 0;
                         });
  }
  return sum;
}

// One block of queries more is one step more, from the middle of the loop (loop_jumps.csv).
TEST(XformersBackward, AStepJumpsOverWhatNobodyNeeds) {
  constexpr std::int64_t kBlocks = 16;
  EXPECT_EQ(jumps(kBlocks + 1, kH200) - jumps(kBlocks, kH200), 13);
  EXPECT_EQ(jumps(kBlocks + 1, kA100) - jumps(kBlocks, kA100), 11)
      << "one at the lock and one behind the step less";
}

TEST(XformersBackward, SumsMove16BytesAThread) {
  const Counted counted = counted_main_launch(1024, 128, kH200);
  // Eight of each in 8 x 8 steps of 16 warps; the last key block rounds its sums instead.
  EXPECT_GE(counted.of("LDG.128"), 8 * 8 * 16 * 8);
  EXPECT_EQ(counted.of("STG.128"), 8 * 7 * 16 * 8);
  EXPECT_EQ(counted.of("LDG.64"), 0);
}

TEST(XformersBackward, FencesAreTwoRoundTripsAndTheLockIsSwappedTwice) {
  constexpr double kBlocks = 16;
  constexpr double kWarps = 4;
  // Per step and warp four values of the log-sum-exp and one of delta.
  constexpr double kRowLoads = 5;
  // The fence behind the lock; then, unless nobody comes after, a fence and the release.
  constexpr double kEveryStep = 2;
  constexpr double kUnlessLast = 2 + 2;
  // Two swaps of the lock, and the counter.
  constexpr double kAtomics = 2 + 1;
  const Counted counted = counted_main_launch(static_cast<std::int64_t>(kBlocks) * 64, 64, kH200);
  EXPECT_EQ(counted.of("LDG.32"),
            kWarps * (kBlocks * kBlocks * (kRowLoads + kEveryStep) + kBlocks * (kBlocks - 1) * kUnlessLast));
  EXPECT_EQ(counted.of("ATOM.32"), kWarps * kBlocks * kBlocks * kAtomics);
}

// Two or four threads read a row's 16 bytes side by side for the row products, and four those of a slice that
// a product copies: the lines that hold these rows are more than the bytes of an instruction need.
TEST(XformersBackward, PiecesOfRowsLieInALineEach) {
  for (const int d : {64, 128}) {
    const Problem problem{1, 1, 1, 4 * d, 4 * d, d, false, DataType::fp16, kBackward};
    const trace::Trace built = kernels::find_kernel("xformers").build(problem, kA100);
    const trace::WarpProgram& program = built.launches.at(1).programs.front();
    int pieces_of_slices = 0;
    for (const trace::Instruction& instruction : program.code) {
      const bool is_load = instruction.opcode == trace::Opcode::LDG_128;
      if (!is_load && instruction.opcode != trace::Opcode::LDGSTS_128) {
        continue;
      }
      const trace::MemoryOperand& operand = program.memory_operands.at(instruction.memory);
      if (is_load && built.tensors.at(operand.tensor).name == "dO") {
        EXPECT_EQ(operand.lines, d == 64 ? 16 : 8);
        EXPECT_EQ(operand.wavefronts, operand.lines) << "the rows begin in one bank";
      }
      if (!is_load) {
        EXPECT_TRUE(operand.lines == 0 || operand.lines == 8) << operand.lines;
        pieces_of_slices += operand.lines == 8 ? 1 : 0;
      }
    }
    EXPECT_GT(pieces_of_slices, 0);
  }
}

TEST(XformersBackward, SpillsStayInTheStackFrame) {
  // Words of 128 bytes, those of all warps of a CTA side by side.
  const auto words = [](const kernels::GpuLimits& limits) {
    constexpr std::int64_t kWordBytes = 128;
    const Problem problem{1, 1, 1, 256, 256, 128, false, DataType::fp16, kBackward};
    const trace::Trace built = kernels::find_kernel("xformers").build(problem, limits);
    const trace::Launch& launch = built.launches.at(1);
    const auto warps = static_cast<std::int64_t>(launch.classes[0].program_of_warp.size());
    std::int64_t last = 0;
    for (const trace::WarpProgram& program : launch.programs) {
      for (const trace::MemoryOperand& operand : program.memory_operands) {
        const bool is_local = operand.tensor < built.tensors.size() &&
                              built.tensors[operand.tensor].kind == trace::TensorKind::local;
        if (is_local) {
          last = std::max(last, operand.offset.offset / (warps * kWordBytes) + operand.bytes / kWordBytes);
        }
      }
    }
    return last;
  };
  EXPECT_EQ(words(kH200), 34);
  EXPECT_EQ(words(kA100), 2);
}

struct Counters {
  double instructions, hmma, ldsm, ldgsts, lsu, shared_loads, shared_stores, xu;
};

struct Measured {
  std::int64_t batch, heads, seqlen, head_dim;
  bool causal;
  Counters counters;
};

// clang-format off
constexpr std::array kMeasured = std::to_array<Measured>({
    {32, 32, 512, 64, false, {607267552, 83886080, 23592960, 6422528, 70402669, 14778368, 10092544, 10354688}},
    {32, 32, 512, 64, true, {378018946, 47185920, 13271040, 3670016, 41821744, 8585216, 6365184, 4718592}},
    {32, 16, 512, 128, false, {493434880, 83886080, 22282240, 5505024, 71256064, 15491072, 5799936, 5373952}},
    {32, 16, 512, 128, true, {329702496, 52428800, 13926400, 3440640, 46403591, 9924608, 4214784, 2621440}},
    {8, 32, 2048, 64, false, {2346421450, 335544320, 94371840, 25296896, 274317642, 57245696, 35651584, 40239104}},
    {8, 16, 2048, 128, false, {1892709886, 335544320, 89128960, 22020096, 275569866, 60022784, 18481152, 20316160}},
    {8, 32, 2048, 64, true, {1327514494, 173015040, 48660480, 13107200, 147723938, 29818880, 19144704, 17301504}},
    {8, 16, 2048, 128, true, {1070093724, 178257920, 47349760, 11698176, 151122405, 32190464, 10555392, 8912896}},
    {2, 32, 8192, 64, false, {9306888244, 1342177280, 377487360, 100794368, 1090645477, 227115008, 137887744, 159776768}},
    {2, 16, 8192, 128, false, {7490497888, 1342177280, 356515840, 88080384, 1092933730, 238149632, 69206016, 80084992}},
});
// clang-format on

class XformersBackwardCounters : public testing::TestWithParam<Measured> {};

TEST_P(XformersBackwardCounters, InstructionsAreThoseOfHardware) {
  const Measured& point = GetParam();
  const Problem problem{point.batch,    point.heads,  point.heads,    point.seqlen, point.seqlen,
                        point.head_dim, point.causal, DataType::fp16, kBackward};
  const trace::Trace built = kernels::find_kernel("xformers").build(problem, kH200);
  const Counted counted{trace::executed_instructions(built.launches.at(1))};
  const Counters& measured = point.counters;
  EXPECT_EQ(counted.of("HMMA.1688.F32"), measured.hmma);
  const auto expect_within = [](double ours, double theirs, double percent, const char* what) {
    EXPECT_NEAR(ours / theirs, 1.0, percent / 100) << what << ": " << ours << " against " << theirs;
  };
  expect_within(static_cast<double>(trace::total(counted.opcodes)), measured.instructions, 3, "instructions");
  // 2 of 18 and of 34 read behind the last slice.
  expect_within(counted.of("LDSM"), measured.ldsm, 12, "LDSM");
  // At head dimension 128 hardware executes copies behind the last slice, predicated off.
  expect_within(counted.of("LDGSTS"), measured.ldgsts * (point.head_dim == 64 ? 1.0 : 28.0 / 42), 4,
                "LDGSTS");
  expect_within(counted.of(trace::Pipe::lsu), measured.lsu, 5, "LSU");
  expect_within(counted.of("STS"), measured.shared_stores, 8, "shared stores");
}

INSTANTIATE_TEST_SUITE_P(H200, XformersBackwardCounters, testing::ValuesIn(kMeasured),
                         [](const auto& parameter) {
                           const Measured& point = parameter.param;
                           return "N" + std::to_string(point.seqlen) + "_d" + std::to_string(point.head_dim) +
                                  (point.causal ? "_causal" : "_full");
                         });

}  // namespace
}  // namespace warpscope::tests
