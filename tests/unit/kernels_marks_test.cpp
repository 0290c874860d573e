// What a program marks, and what the figures of a build make of it: instructions, and nothing in numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/machine/cta_ends.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/numeric/run_numeric.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;
using trace::Opcode;

constexpr WarpSplit kSplit{1, 1, 1};

/// One warp that copies a matrix of 16 x 64 numbers and does `between` after the load.
KernelPlan copying_plan(const BuildFigures& build, std::function<void(CtaMachine&)> between) {
  KernelPlan plan;
  plan.tensors = {{"x", trace::TensorKind::input, 1, 16, 64, ElementType::fp16},
                  {"y", trace::TensorKind::output, 1, 16, 64, ElementType::fp16}};
  LaunchPlan launch;
  launch.name = "copy";
  launch.registers_per_thread = 64;
  launch.build = build;
  launch.build.estimate_moves = false;
  launch.programs.push_back({"rows", [between = std::move(between)](CtaMachine& machine) {
                               const Fragment tile =
                                   machine.fragment(16, 64, ElementType::fp16, Layout::linear, kSplit);
                               machine.load(tile, {0, 0, 0, 0, 16, 64});
                               between(machine);
                               machine.store({1, 0, 0, 0, 16, 64}, tile);
                             }});
  launch.classes.push_back({0, {}, {}});
  plan.launches.push_back(launch);
  return plan;
}

std::vector<trace::Instruction> code_of(const KernelPlan& plan) {
  const Kernel kernel{"marked", "", [&](const Problem&, const GpuLimits&) { return plan; }};
  return kernel.build(Problem(), kA100).launches.at(0).programs.at(0).code;
}

std::ptrdiff_t count(const std::vector<trace::Instruction>& code, Opcode opcode) {
  return std::ranges::count(code, opcode, &trace::Instruction::opcode);
}

std::ptrdiff_t first(const std::vector<trace::Instruction>& code, Opcode opcode) {
  return std::ranges::find(code, opcode, &trace::Instruction::opcode) - code.begin();
}

TEST(KernelMarks, PartsGetWhatWasCountedForTheirCopy) {
  BuildFigures build;
  build.parts[{1, 0}] = {{.spread = {{Opcode::SHF, 3}}}};
  build.parts[{1, 2}] = {{.spread = {{Opcode::PRMT, 2}}}};
  const auto copies = [&](const std::vector<int>& marked) {
    return code_of(copying_plan(build, [&](CtaMachine& machine) {
      std::ranges::for_each(marked, [&](int copy) { machine.part(1, copy); });
    }));
  };
  const std::vector<trace::Instruction> plain = copies({});
  EXPECT_EQ(copies({1}).size(), plain.size());
  EXPECT_EQ(count(copies({0}), Opcode::SHF), 3);
  EXPECT_EQ(copies({0}).size(), plain.size() + 3);
  EXPECT_EQ(count(copies({0, 2, 2}), Opcode::PRMT), 4);
  EXPECT_EQ(copies({0, 2, 2}).size(), plain.size() + 7);
}

TEST(KernelMarks, LinksOfAChainNeedTheOneBefore) {
  BuildFigures build;
  build.parts[{0, 0}] = {{.chain = {{Opcode::SHF, 2}, {Opcode::PRMT, 2}}}};
  const std::vector<trace::Instruction> code =
      code_of(copying_plan(build, [](CtaMachine& machine) { machine.part(0); }));
  std::vector<trace::Instruction> links;
  std::ranges::copy_if(code, std::back_inserter(links), [](const trace::Instruction& instruction) {
    return instruction.opcode == Opcode::SHF || instruction.opcode == Opcode::PRMT;
  });
  ASSERT_EQ(links.size(), 4);
  for (std::size_t i = 0; i < links.size(); ++i) {
    EXPECT_EQ(links[i].opcode, i % 2 == 0 ? Opcode::SHF : Opcode::PRMT);
    if (i > 0) {
      EXPECT_EQ(links[i].sources[0], links[i - 1].destination);
    }
  }
}

TEST(KernelMarks, BlocksOfAPartEndWithTheirBranches) {
  BuildFigures build;
  build.parts[{0, 0}] = {{.end = BlockEnd::branch},
                         {.spread = {{Opcode::SHF, 1}}, .end = BlockEnd::branch},
                         {.spread = {{Opcode::PRMT, 1}}, .end = BlockEnd::join}};
  const std::vector<trace::Instruction> code =
      code_of(copying_plan(build, [](CtaMachine& machine) { machine.part(0); }));
  std::vector<Opcode> order;
  for (const trace::Instruction& instruction : code) {
    if (instruction.opcode == Opcode::BRA || instruction.opcode == Opcode::SHF ||
        instruction.opcode == Opcode::PRMT) {
      order.push_back(instruction.opcode);
    }
  }
  EXPECT_EQ(order, (std::vector{Opcode::BRA, Opcode::SHF, Opcode::BRA, Opcode::PRMT}));
}

TEST(KernelMarks, BranchesOfAPartJumpAsFarAsItSays) {
  BuildFigures build;
  build.parts[{0, 0}] = {{.end = BlockEnd::branch, .jumps_over = 160}, {.end = BlockEnd::branch}};
  std::vector<int> jumps;
  for (const trace::Instruction& instruction :
       code_of(copying_plan(build, [](CtaMachine& machine) { machine.part(0); }))) {
    if (instruction.opcode == Opcode::BRA) {
      jumps.push_back(instruction.immediate);
    }
  }
  EXPECT_EQ(jumps, (std::vector{160, 0}));
}

TEST(KernelMarks, AGuardedPieceStandsBehindABranch) {
  const auto code_with = [](const std::function<void(CtaMachine&)>& between) {
    return code_of(copying_plan({}, between));
  };
  const auto exchange = [](CtaMachine& machine) { machine.barrier(); };
  const auto guarded = code_with([&](CtaMachine& machine) { machine.guarded([&] { exchange(machine); }); });
  EXPECT_EQ(guarded.size(), code_with(exchange).size() + 1);
  EXPECT_EQ(first(guarded, Opcode::BRA) + 1, first(guarded, Opcode::BAR_SYNC));
}

TEST(KernelMarks, AConditionOfTheIterationIsComparedInFrontOfItsBranch) {
  const auto code = code_of(copying_plan(
      {}, [](CtaMachine& machine) { machine.guarded([&] { machine.barrier(); }, Condition::of_iteration); }));
  const auto branch = static_cast<std::size_t>(first(code, Opcode::BRA));
  ASSERT_EQ(code.at(branch - 1).opcode, Opcode::ISETP);
  EXPECT_EQ(code[branch].sources[0], code[branch - 1].destination);
  EXPECT_EQ(code[branch - 1].control.stall_cycles, 13) << "from a compare to the guard";
  EXPECT_EQ(code.at(branch + 1).opcode, Opcode::BAR_SYNC);
}

TEST(KernelMarks, ABuildExchangesPiecesAndNumbersDoNot) {
  std::string order;
  const auto pieces = [&](CtaMachine& machine) {
    machine.in_either_order(
        4, [&] { order += "a"; }, [&] { order += "b"; });
  };
  const auto order_in = [&](const std::function<void()>& run) {
    order.clear();
    run();
    return order;
  };
  BuildFigures build;
  EXPECT_EQ(order_in([&] { code_of(copying_plan(build, pieces)); }), "ab");
  build.exchanged = {4};
  EXPECT_EQ(order_in([&] { code_of(copying_plan(build, pieces)); }), "ba");
  EXPECT_EQ(order_in([&] {
              run_numeric(copying_plan(build, pieces), {{"x", std::vector<float>(1024)}});
            }),
            "ab");
}

TEST(KernelMarks, CountedSharedLoadsReadNothing) {
  BuildFigures build;
  build.parts[{1, 0}] = {{.spread = {{Opcode::LDS_32, 2}, {Opcode::LDSM_X4, 1}}}};
  const KernelPlan plan = copying_plan(build, [](CtaMachine& m) { m.part(1); });
  const Kernel kernel{"marked", "", [&](const Problem&, const GpuLimits&) { return plan; }};
  const trace::WarpProgram program = kernel.build(Problem(), kA100).launches.at(0).programs.at(0);
  int dead = 0;
  for (const trace::Instruction& instruction : program.code) {
    if (instruction.opcode == Opcode::LDS_32 || instruction.opcode == Opcode::LDSM_X4) {
      EXPECT_EQ(program.memory_operands.at(instruction.memory).bytes, 0U);
      ++dead;
    }
  }
  EXPECT_EQ(dead, 3);
}

TEST(KernelMarks, CopiesLeaveTheirAddressesToTheFigures) {
  const auto copying = [](CtaMachine& m) {
    m.copy_async({0, 16, 64, ElementType::fp16, 1, {}}, {0, 0, 0, 0, 16, 64});
  };
  const auto code = [&](bool estimate) {
    BuildFigures build;
    build.estimate_copy_addresses = estimate;
    KernelPlan plan = copying_plan(build, copying);
    plan.launches[0].shared_bytes_per_cta = 2048;
    return code_of(plan);
  };
  EXPECT_EQ(count(code(true), Opcode::LDGSTS_128), 4);
  EXPECT_EQ(count(code(false), Opcode::LDGSTS_128), 4);
  EXPECT_EQ(count(code(true), Opcode::LDS_32), 3);
  EXPECT_EQ(count(code(false), Opcode::LDS_32), 0);
  EXPECT_EQ(count(code(false), Opcode::SHF), 0);
}

TEST(KernelMarks, ProductsUseTheTensorInstructionOfTheBuild) {
  const auto multiplying = [](CtaMachine& m) {
    const SharedTile a{0, 16, 32, ElementType::fp16, 1, {}};
    const SharedTile b{1024, 16, 32, ElementType::fp16, 1, {}};
    const Fragment c = m.fragment(16, 16, ElementType::fp32, Layout::accumulator, kSplit);
    m.fill(c, 0);
    m.mma(c, a, transposed(b));
    m.store({1, 0, 0, 0, 16, 16}, c);
  };
  const auto code = [&](int depth) {
    BuildFigures build;
    build.math.mma_depth = depth;
    KernelPlan plan = copying_plan(build, multiplying);
    plan.launches[0].shared_bytes_per_cta = 2048;
    return code_of(plan);
  };
  // 2 atoms of 8 columns, 2 or 4 steps. A step of 8 needs two registers of each operand.
  EXPECT_EQ(count(code(16), Opcode::HMMA_16816_F32), 4);
  EXPECT_EQ(count(code(16), Opcode::LDSM_X4), 4);
  EXPECT_EQ(count(code(8), Opcode::HMMA_1688_F32), 8);
  EXPECT_EQ(count(code(8), Opcode::HMMA_16816_F32), 0);
  EXPECT_EQ(count(code(8), Opcode::LDSM_X2), 8);
  EXPECT_THROW(code(4), std::logic_error);
}

TEST(KernelMarks, ReciprocalsAndLogarithmsMayTestTheirRangeInBranches) {
  const auto dividing = [](CtaMachine& m) {
    const Fragment sums = m.fragment(16, 8, ElementType::fp32, Layout::accumulator, kSplit);
    m.fill(sums, 1);
    const RowVector sum = m.row_vector(sums);
    m.reduce_rows(sum, Reduce::sum, sums, false);
    m.apply(sum, UnaryOp::reciprocal_or_one, sum);
    m.apply(sum, UnaryOp::log_or_infinity, sum);
  };
  BuildFigures build;
  const auto fast = code_of(copying_plan(build, dividing));
  build.math.fast_division = false;
  const auto tested = code_of(copying_plan(build, dividing));
  // A thread has two rows. Each has two branches, whose paths meet again.
  EXPECT_EQ(count(fast, Opcode::BRA), 0);
  for (const Opcode opcode : {Opcode::BSSY, Opcode::BRA, Opcode::BSYNC}) {
    EXPECT_EQ(count(tested, opcode), 4) << trace::info(opcode).name;
  }
  for (const Opcode opcode : {Opcode::MUFU_RCP, Opcode::MUFU_LG2}) {
    EXPECT_EQ(count(tested, opcode), 2) << trace::info(opcode).name;
    EXPECT_EQ(count(fast, opcode), 2) << trace::info(opcode).name;
  }
  EXPECT_EQ(tested.size(), fast.size() + 2 * 12);
  // The compiler moves nothing across a branch: the second row waits for the first.
  const std::ptrdiff_t reciprocal = first(tested, Opcode::MUFU_RCP);
  const std::ptrdiff_t meeting = first(tested, Opcode::BSYNC);
  EXPECT_GT(meeting, reciprocal);
  EXPECT_EQ(std::count_if(tested.begin(), tested.begin() + meeting,
                          [](const trace::Instruction& i) { return i.opcode == Opcode::MUFU_RCP; }),
            1);
}

TEST(KernelMarks, TheEndOfACtaReadsItsParametersOneBehindTheOther) {
  const CountedPart part =
      cta_end({{Opcode::IADD3, 40}, {Opcode::IMAD, 30}, {Opcode::NOP, 8}, {Opcode::MOV, 2}});
  ASSERT_EQ(part.size(), 1U);
  const auto has = [](const std::vector<CountedInstruction>& list, Opcode opcode) {
    const auto found = std::ranges::find(list, opcode, &CountedInstruction::opcode);
    return found == list.end() ? 0 : found->count;
  };
  EXPECT_EQ(has(part[0].chain, Opcode::LDC), 3);
  EXPECT_EQ(has(part[0].spread, Opcode::NOP), 5);
  EXPECT_EQ(has(part[0].chain, Opcode::IADD3), 10);
  EXPECT_EQ(has(part[0].chain, Opcode::IMAD), 10);
  EXPECT_EQ(has(part[0].spread, Opcode::IADD3), 30);
  EXPECT_EQ(has(part[0].spread, Opcode::MOV), 2);
  EXPECT_TRUE(cta_end({})[0].chain.empty());
}

}  // namespace
}  // namespace warpscope::tests
