// Control bits: the static pipe model on tiny programs, and coverage of every dependence in every kernel.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/compiler/control_bits.hpp"
#include "kernels/kernel.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/attention_kernels.hpp"
#include "tests/support/control_replay.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/instruction.hpp"

namespace warpscope::tests {
namespace {

using kernels::CompilerTarget;
using kernels::GpuLimits;
using kernels::Problem;
using kernels::VirtualProgram;
using trace::Instruction;
using trace::Opcode;
using trace::RegisterRange;

std::vector<Instruction> assigned(std::vector<Instruction> code, const CompilerTarget& target) {
  VirtualProgram program;
  program.blocks.push_back({std::move(code), false});
  kernels::assign_control_bits(program, target);
  return program.blocks[0].code;
}

constexpr RegisterRange kA{10, 1};
constexpr RegisterRange kB{11, 1};
constexpr RegisterRange kC{12, 1};

TEST(ControlBits, DependentArithmeticWaitsForItsLatency) {
  for (const CompilerTarget& target : {kernels::compiler_target(kA100), kernels::compiler_target(kH100)}) {
    const auto fma = assigned({make(Opcode::FFMA, kA, {kB}), make(Opcode::FFMA, kC, {kA})}, target);
    EXPECT_EQ(fma[0].control.stall_cycles, 4);
    const auto alu = assigned({make(Opcode::FMNMX, kA, {kB}), make(Opcode::FFMA, kC, {kA})}, target);
    EXPECT_EQ(alu[0].control.stall_cycles, 5);
  }
}

// Least distances in code that ptxas 13 built for sm_90.
TEST(ControlBits, LatencyDependsOnWhoReads) {
  const kernels::CompilerTarget target = kernels::compiler_target(kH100);
  const auto stall = [&](Opcode from, Opcode to) {
    return int{assigned({make(from, kA, {kB}), make(to, kC, {kA})}, target)[0].control.stall_cycles};
  };
  EXPECT_EQ(stall(Opcode::FMNMX, Opcode::FMNMX), 4);
  EXPECT_EQ(stall(Opcode::IMAD, Opcode::IMAD), 4);
  EXPECT_EQ(stall(Opcode::FMUL, Opcode::MUFU_EX2), 4);
  EXPECT_EQ(stall(Opcode::FMUL, Opcode::F2FP_PACK_AB), 5);
  EXPECT_EQ(stall(Opcode::IADD3, Opcode::STS_32), 5);
  EXPECT_EQ(stall(Opcode::F2FP_PACK_AB, Opcode::HMMA_16816_F32), 7);
  constexpr RegisterRange kPredicate{trace::kFirstPredicate, 1};
  EXPECT_EQ(assigned({make(Opcode::ISETP, kPredicate, {kB}), make(Opcode::SEL, kC, {kPredicate})}, target)[0]
                .control.stall_cycles,
            4);
  EXPECT_EQ(assigned({make(Opcode::ISETP, kPredicate, {kB}), make(Opcode::FMUL, kC, {kPredicate})}, target)[0]
                .control.stall_cycles,
            13);
}

TEST(ControlBits, ABranchWaitsForWhatIsUnderWay) {
  const auto stalls = [](const Instruction& last) {
    std::vector<int> counts;
    for (const Instruction& instruction :
         assigned({last, make(Opcode::BRA, {}, {})}, kernels::compiler_target(kH100))) {
      counts.push_back(instruction.control.stall_cycles);
    }
    return counts;
  };
  EXPECT_EQ(stalls(make(Opcode::HMMA_16816_F32, {20, 4}, {kB})), (std::vector{9, 15}));
  EXPECT_EQ(stalls(make(Opcode::FMNMX, kA, {kB})), (std::vector{1, 6}));
  EXPECT_EQ(stalls(make(Opcode::STS_32, {}, {kA, kB})), (std::vector{1, 5}));
}

TEST(ControlBits, PipesKeepTheirIntervals) {
  const auto stall = [](Opcode opcode, const GpuLimits& gpu) {
    return int{assigned({make(opcode, kA, {kB}), make(opcode, kC, {kB})}, kernels::compiler_target(gpu))[0]
                   .control.stall_cycles};
  };
  EXPECT_EQ(stall(Opcode::HMMA_16816_F32, kA100), 8);
  EXPECT_EQ(stall(Opcode::HMMA_16816_F32, kH100), 6);
  EXPECT_EQ(stall(Opcode::FFMA, kA100), 2);
  EXPECT_EQ(stall(Opcode::FFMA, kH100), 1);
  EXPECT_EQ(stall(Opcode::FMNMX, kH100), 2);
  EXPECT_EQ(stall(Opcode::MUFU_EX2, kH100), 10);
  EXPECT_EQ(stall(Opcode::STS_32, kH100), 4);
  EXPECT_EQ(stall(Opcode::LDSM_X4, kH100), 4);
}

TEST(ControlBits, AnIntervalContainsWhatLiesBetween) {
  const auto code = assigned({make(Opcode::HMMA_16816_F32, {20, 4}, {kB}), make(Opcode::FFMA, kA, {kB}),
                              make(Opcode::HMMA_16816_F32, {30, 4}, {kB})},
                             kernels::compiler_target(kH100));
  EXPECT_EQ(code[0].control.stall_cycles + code[1].control.stall_cycles, 6);
}

// As in the machine code of FlashAttention-2: 5 cycles on sm_90, 4 on sm_80; memory and MUFU follow at once.
TEST(ControlBits, FmaAndAluKeepAwayFromTensorInstructions) {
  const auto behind_hmma = [](Opcode opcode, const GpuLimits& gpu) {
    return int{assigned({make(Opcode::HMMA_16816_F32, {20, 4}, {kB}), make(opcode, kA, {kC})},
                        kernels::compiler_target(gpu))[0]
                   .control.stall_cycles};
  };
  for (const Opcode lanes : {Opcode::FADD, Opcode::FMNMX, Opcode::IMAD, Opcode::F2FP_PACK_AB}) {
    EXPECT_EQ(behind_hmma(lanes, kH100), 5);
    EXPECT_EQ(behind_hmma(lanes, kA100), 4);
  }
  EXPECT_EQ(behind_hmma(Opcode::LDSM_X4, kH100), 1);
  EXPECT_EQ(behind_hmma(Opcode::MUFU_EX2, kH100), 1);
}

TEST(ControlBits, UnknownLatencyUsesAScoreboard) {
  const auto code =
      assigned({make(Opcode::MUFU_EX2, kA, {kB}), make(Opcode::FADD, kC, {kB}), make(Opcode::FADD, kC, {kA})},
               kernels::compiler_target(kH100));
  ASSERT_LT(code[0].control.write_scoreboard, 6);
  EXPECT_EQ(code[1].control.wait_mask, 0);
  EXPECT_EQ(code[2].control.wait_mask, 1 << code[0].control.write_scoreboard);
}

TEST(ControlBits, LoadsTakeFreeScoreboardsAndThenShareTheLatest) {
  std::vector<Instruction> loads(7);
  for (std::size_t i = 0; i < loads.size(); ++i) {
    loads[i] = make(Opcode::LDSM_X4, {static_cast<std::uint16_t>(20 + 4 * i), 4}, {kB});
  }
  const auto code = assigned(loads, kernels::compiler_target(kH100));
  for (std::size_t i = 0; i < loads.size(); ++i) {
    EXPECT_EQ(code[i].control.write_scoreboard, std::min(i, std::size_t{5}));
  }
}

TEST(ControlBits, AScoreboardIsFreeAgainOnceItHasBeenWaitedFor) {
  const auto code =
      assigned({make(Opcode::LDSM_X4, {20, 4}, {kB}), make(Opcode::LDSM_X4, {24, 4}, {kB}),
                make(Opcode::HMMA_16816_F32, {40, 4}, {{20, 4}}), make(Opcode::LDSM_X4, {28, 4}, {kB})},
               kernels::compiler_target(kH100));
  EXPECT_EQ(code[0].control.write_scoreboard, 0);
  EXPECT_EQ(code[1].control.write_scoreboard, 1);
  EXPECT_EQ(code[3].control.write_scoreboard, 0);
}

// Results of one class come in order: who waits for the second has the first.
TEST(ControlBits, AResultThatIsAwaitedWithALaterOneNeedsNoScoreboard) {
  const auto code = assigned(
      {make(Opcode::LDSM_X4, {20, 4}, {kB}), make(Opcode::LDSM_X4, {24, 4}, {kB}),
       make(Opcode::HMMA_16816_F32, {40, 4}, {{24, 4}}), make(Opcode::HMMA_16816_F32, {44, 4}, {{20, 4}})},
      kernels::compiler_target(kH100));
  EXPECT_EQ(code[0].control.write_scoreboard, trace::kNoScoreboard);
  EXPECT_EQ(code[1].control.write_scoreboard, 0);
  EXPECT_EQ(code[2].control.wait_mask, 1);
  EXPECT_EQ(code[3].control.wait_mask, 0);
}

TEST(ControlBits, AResultThatIsAwaitedFirstOrWithAnotherClassKeepsItsScoreboard) {
  const auto first = assigned(
      {make(Opcode::LDSM_X4, {20, 4}, {kB}), make(Opcode::LDSM_X4, {24, 4}, {kB}),
       make(Opcode::HMMA_16816_F32, {40, 4}, {{20, 4}}), make(Opcode::HMMA_16816_F32, {44, 4}, {{24, 4}})},
      kernels::compiler_target(kH100));
  EXPECT_EQ(first[0].control.write_scoreboard, 0);
  EXPECT_EQ(first[1].control.write_scoreboard, 1);
  const auto other =
      assigned({make(Opcode::LDSM_X4, {20, 4}, {kB}), make(Opcode::MUFU_EX2, kA, {kB}),
                make(Opcode::FADD, kC, {kA}), make(Opcode::HMMA_16816_F32, {40, 4}, {{20, 4}})},
               kernels::compiler_target(kH100));
  EXPECT_EQ(other[0].control.write_scoreboard, 0);
  EXPECT_EQ(other[1].control.write_scoreboard, 1);
}

TEST(ControlBits, ScoreboardZeroIsLeftToAsynchronousCopies) {
  const auto code = assigned({make(Opcode::LDGSTS_128, {}, {kB}), make(Opcode::LDSM_X4, {20, 4}, {kB})},
                             kernels::compiler_target(kH100));
  EXPECT_EQ(code[1].control.write_scoreboard, 1);
}

TEST(ControlBits, LoadsForOtherBlocksHoldTheLastScoreboardAlone) {
  VirtualProgram program;
  program.blocks.push_back(
      {{make(Opcode::LDG_128, {20, 4}, {kB}), make(Opcode::LDG_128, {24, 4}, {kB})}, true});
  program.blocks.push_back({{}, true});
  for (int i = 0; i < 7; ++i) {
    program.blocks[1].code.push_back(
        make(Opcode::LDSM_X4, {static_cast<std::uint16_t>(40 + 4 * i), 4}, {kB}));
  }
  program.blocks[1].code.push_back(make(Opcode::FADD, kA, {{24, 1}}));
  kernels::assign_control_bits(program, kernels::compiler_target(kH100));
  EXPECT_EQ(program.blocks[0].code[0].control.write_scoreboard, 5);
  EXPECT_EQ(program.blocks[0].code[1].control.write_scoreboard, 5);
  for (int i = 0; i < 7; ++i) {
    EXPECT_LT(program.blocks[1].code[static_cast<std::size_t>(i)].control.write_scoreboard, 5);
  }
  EXPECT_EQ(program.blocks[1].code.back().control.wait_mask, 1 << 5);
}

TEST(ControlBits, ReadsThatAnotherBlockOverwritesShareOneScoreboard) {
  VirtualProgram program;
  program.blocks.push_back({{make(Opcode::STS_32, {}, {kA}), make(Opcode::STS_32, {}, {kC})}, true});
  program.blocks.push_back({{make(Opcode::FADD, kA, {kA}), make(Opcode::FADD, kC, {kC})}, true});
  program.loops.push_back({});
  program.loops[0].last_block = 1;
  kernels::assign_control_bits(program, kernels::compiler_target(kH100));
  const auto& stores = program.blocks[0].code;
  ASSERT_EQ(stores.size(), 2U);
  ASSERT_LT(stores[0].control.read_scoreboard, 6);
  EXPECT_EQ(stores[0].control.read_scoreboard, stores[1].control.read_scoreboard);
  const auto& sums = program.blocks[1].code;
  EXPECT_EQ(sums[0].control.wait_mask, 1 << stores[0].control.read_scoreboard);
  EXPECT_EQ(sums[1].control.stall_cycles, 7) << "it ends when whatever reads the sum may issue";
}

TEST(ControlBits, AStoreProtectsASourceThatIsSoonOverwritten) {
  const auto reused = assigned({make(Opcode::STS_32, {}, {kA}), make(Opcode::FADD, kA, {kB})},
                               kernels::compiler_target(kH100));
  ASSERT_LT(reused[0].control.read_scoreboard, 6);
  EXPECT_EQ(reused[1].control.wait_mask, 1 << reused[0].control.read_scoreboard);
  const auto kept = assigned({make(Opcode::STS_32, {}, {kA}), make(Opcode::FADD, kC, {kB})},
                             kernels::compiler_target(kH100));
  EXPECT_EQ(kept[0].control.read_scoreboard, trace::kNoScoreboard);
}

TEST(ControlBits, LongLatenciesAreBridgedByNops) {
  const auto code = assigned({make(Opcode::HMMA_16816_F32, {20, 4}, {kB}), make(Opcode::FADD, kA, {{20, 1}})},
                             kernels::compiler_target(kH100));
  ASSERT_EQ(code.size(), 3U);
  EXPECT_EQ(code[1].opcode, Opcode::NOP);
  EXPECT_EQ(code[0].control.stall_cycles + code[1].control.stall_cycles, 24);
}

TEST(ControlBits, ALoopWaitsForWhatItsLastIterationLeftOpen) {
  VirtualProgram program;
  program.blocks.push_back(
      {{make(Opcode::FADD, kC, {kA}), make(Opcode::LDS_32, kA, {kB}), make(Opcode::BRA, {}, {})}, true});
  program.blocks.push_back({{}, false});
  program.loops.push_back({});
  kernels::assign_control_bits(program, kernels::compiler_target(kH100));
  const auto& code = program.blocks[0].code;
  EXPECT_EQ(code[0].control.wait_mask, 1 << code[1].control.write_scoreboard);
}

// A store of an iteration reads its address until the next one moves on. A load in front of that must not set
// the same scoreboard, or the address would wait for its data.
TEST(ControlBits, ALoadLeavesAloneWhatItsBlockStillWaitsFor) {
  VirtualProgram program;
  constexpr RegisterRange kData{30, 1};
  program.blocks.push_back(
      {{make(Opcode::LDG_32, kData, {kC}), make(Opcode::IADD3, kA, {kA}), make(Opcode::FADD, kB, {kData, kB}),
        make(Opcode::STG_32, {}, {kA, kB}), make(Opcode::BRA, {}, {})},
       true});
  program.blocks.push_back({{}, false});
  program.loops.push_back({});
  kernels::assign_control_bits(program, kernels::compiler_target(kH100));
  const auto& code = program.blocks[0].code;
  const int load = code[0].control.write_scoreboard;
  const int store = code[3].control.read_scoreboard;
  ASSERT_LT(store, trace::kScoreboards);
  EXPECT_NE(load, store);
  EXPECT_EQ(code[1].control.wait_mask, 1 << store);
}

// Every kernel, on both targets, for shapes that take all their branches.
struct Coverage : testing::TestWithParam<std::string_view> {};

void check_all(std::string_view kernel, const Problem& problem, const GpuLimits& gpu) {
  trace::Trace built;
  try {
    built = kernels::find_kernel(kernel).build(problem, gpu);
  } catch (const kernels::UnsupportedProblem&) {
    return;
  }
  for (const trace::Launch& launch : built.launches) {
    for (const trace::CtaClass& cta_class : launch.classes) {
      const auto& program = launch.programs[cta_class.program_of_warp[0]];
      const auto problems = uncovered_dependences(program, cta_class, kernels::compiler_target(gpu));
      ASSERT_TRUE(problems.empty()) << kernel << " d=" << problem.head_dim << " " << program.name << ": "
                                    << problems.front();
    }
  }
}

TEST_P(Coverage, EveryDependenceIsCovered) {
  for (const std::int64_t head_dim : {32, 64, 96, 128, 256}) {
    for (const bool causal : {false, true}) {
      for (const GpuLimits& gpu : {kA100, kH100}) {
        check_all(GetParam(), {1, 2, 1, 700, 900, head_dim, causal}, gpu);
        check_all(GetParam(), {1, 1, 1, 512, 512, head_dim, causal}, gpu);
      }
    }
  }
}

TEST(ControlBits, KernelsThatAreNotAttentionWaitForWhatTheyRead) {
  Problem problem;
  problem.matrix = {500, 200, 96};
  for (const kernels::Kernel& kernel : kernels::all_kernels()) {
    problem.type = kernel.type;
    if (kernel.type != kernels::ProblemType::attention) {
      check_all(kernel.name, problem, kA100);
      check_all(kernel.name, problem, kH100);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Coverage, testing::ValuesIn(attention_kernels()),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(ControlReplay, FindsAMissingWaitAndAShortStall) {
  const trace::Trace built = kernels::find_kernel("fa2").build({1, 1, 1, 512, 512, 64, false}, kH100);
  const CompilerTarget& target = kernels::compiler_target(kH100);
  const trace::CtaClass& cta_class = built.launches[0].classes[0];
  trace::WarpProgram no_wait = built.launches[0].programs[0];
  for (Instruction& instruction : no_wait.code) {
    if (instruction.opcode == Opcode::HMMA_16816_F32) {
      instruction.control.wait_mask = 0;
    }
  }
  EXPECT_FALSE(uncovered_dependences(no_wait, cta_class, target).empty());
  trace::WarpProgram no_stall = built.launches[0].programs[0];
  for (Instruction& instruction : no_stall.code) {
    instruction.control.stall_cycles = 1;
  }
  EXPECT_FALSE(uncovered_dependences(no_stall, cta_class, target).empty());
}

}  // namespace
}  // namespace warpscope::tests
