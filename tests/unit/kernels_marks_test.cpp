// What a program marks, and what the figures of a build make of it: instructions, and nothing in numbers.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

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

TEST(KernelMarks, AGuardedPieceStandsBehindABranch) {
  const auto code_with = [](const std::function<void(CtaMachine&)>& between) {
    return code_of(copying_plan({}, between));
  };
  const auto exchange = [](CtaMachine& machine) { machine.barrier(); };
  const auto guarded = code_with([&](CtaMachine& machine) { machine.guarded([&] { exchange(machine); }); });
  EXPECT_EQ(guarded.size(), code_with(exchange).size() + 1);
  EXPECT_EQ(first(guarded, Opcode::BRA) + 1, first(guarded, Opcode::BAR_SYNC));
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

}  // namespace
}  // namespace warpscope::tests
