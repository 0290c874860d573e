// Kernels that break a rule of the machine are refused where their time would be reported, too.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "kernels/machine/plan.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

constexpr WarpSplit kSplit{1, 1, 1};

/// One warp that copies a matrix of 16 x 64 numbers, then does `more`.
KernelPlan copying_plan(std::function<void(CtaMachine&)> more) {
  KernelPlan plan;
  plan.tensors = {{"x", trace::TensorKind::input, 1, 16, 64, ElementType::fp16},
                  {"y", trace::TensorKind::output, 1, 16, 64, ElementType::fp16}};
  LaunchPlan launch;
  launch.name = "copy";
  launch.registers_per_thread = 64;
  launch.shared_bytes_per_cta = 2048;
  launch.programs.push_back({"rows", [more = std::move(more)](CtaMachine& machine) {
                               const Fragment tile =
                                   machine.fragment(16, 64, ElementType::fp16, Layout::linear, kSplit);
                               machine.load(tile, {0, 0, 0, 0, 16, 64});
                               machine.store({1, 0, 0, 0, 16, 64}, tile);
                               more(machine);
                             }});
  launch.classes.push_back({0, {}, {}});
  plan.launches.push_back(launch);
  return plan;
}

/// What the timed path says of the plan; empty if it takes it.
std::string refusal(const KernelPlan& plan) {
  const Kernel kernel{"idea", "", [&](const Problem&, const GpuLimits&) { return plan; }};
  try {
    kernel.build(Problem(), kA100);
  } catch (const std::logic_error& error) {
    return error.what();
  }
  return {};
}

TEST(BrokenKernels, WhatIsLegalIsTaken) {
  EXPECT_EQ(refusal(copying_plan([](CtaMachine& machine) {
              const Fragment tile = machine.fragment(16, 64, ElementType::fp16, Layout::linear, kSplit);
              machine.load_shared(tile, {0, 16, 64, ElementType::fp16, 1, {}});
            })),
            "");
}

TEST(BrokenKernels, SharedMemoryBeyondTheDeclaration) {
  const std::string legal = "legal are the 2048 that shared_bytes_per_cta declares";
  const std::string ends_at_2064 =
      "kernel idea: launch copy: a tile of 16 x 64 in 1 stages takes bytes 16 to 2064 of shared memory; ";
  const SharedTile beyond{16, 16, 64, ElementType::fp16, 1, {}};
  EXPECT_EQ(refusal(copying_plan([&](CtaMachine& machine) {
              machine.copy_async(beyond, {0, 0, 0, 0, 16, 64});
            })),
            ends_at_2064 + legal);
  EXPECT_EQ(refusal(copying_plan([&](CtaMachine& machine) {
              machine.load_shared(machine.fragment(16, 64, ElementType::fp16, Layout::linear, kSplit),
                                  beyond);
            })),
            ends_at_2064 + legal);
  EXPECT_EQ(refusal(copying_plan([&](CtaMachine& machine) {
              const Fragment sums = machine.fragment(16, 16, ElementType::fp32, Layout::accumulator, kSplit);
              machine.mma(sums, SharedTile{0, 16, 64, ElementType::fp16, 1, {}}, transposed(beyond));
            })),
            ends_at_2064 + legal);
  EXPECT_NE(refusal(copying_plan([&](CtaMachine& machine) {
              machine.copy_async({0, 16, 64, ElementType::fp16, 2, {}}, {0, 0, 0, 0, 16, 64});
            })).find("in 2 stages takes bytes 0 to 4096"),
            std::string::npos);
}

TEST(BrokenKernels, TripCountThatTheClassLacks) {
  KernelPlan plan =
      copying_plan([](CtaMachine& machine) { machine.loop(1, [&](const Affine&) { machine.barrier(); }); });
  plan.launches[0].classes[0].trip_counts = {4};
  EXPECT_EQ(refusal(plan),
            "kernel idea: launch copy: a class of program 0 has 1 trip counts; the program's loops and "
            "positions need 2");
  plan.launches[0].classes[0].trip_counts = {4, 4};
  EXPECT_EQ(refusal(plan), "");
}

TEST(BrokenKernels, ConditionAndSymbolThatTheClassLacks) {
  EXPECT_NE(refusal(copying_plan([](CtaMachine& machine) {
              machine.when(0, [&] { machine.barrier(); });
            })).find("has 0 trip counts"),
            std::string::npos);
  EXPECT_NE(refusal(copying_plan([](CtaMachine& machine) {
              const Fragment tile = machine.fragment(16, 64, ElementType::fp16, Layout::linear, kSplit);
              machine.load(tile, {0, 0, class_symbol(0), 0, 16, 64});
            })).find("has 0 symbols"),
            std::string::npos);
}

TEST(BrokenKernels, NoClassOrOneThatDoesNotExist) {
  KernelPlan plan = copying_plan([](CtaMachine&) {});
  plan.launches[0].classes.clear();
  EXPECT_EQ(refusal(plan),
            "kernel idea: launch copy: no class of CTAs; legal is at least one, which says what program its "
            "CTAs run");
  plan = copying_plan([](CtaMachine&) {});
  plan.launches[0].class_of_block[0] = {1};
  EXPECT_EQ(refusal(plan), "kernel idea: launch copy: class_of_block names class 1; legal are 0 to 0");
  plan.launches[0].class_of_block[0] = {0, 0};
  EXPECT_EQ(refusal(plan),
            "kernel idea: launch copy: class_of_block[0] has 2 entries; legal are none or 1, as the grid");
  plan = copying_plan([](CtaMachine&) {});
  plan.launches[0].classes[0].program = 1;
  EXPECT_EQ(refusal(plan), "kernel idea: launch copy: a class runs program 1; legal are 0 to 0");
}

TEST(BrokenKernels, RegistersBeyondTheDeclaration) {
  // A tile of 16 x 256 numbers in fp32 takes 128 registers of each lane of one warp, all of which wait for
  // the sum of the rows.
  KernelPlan plan = copying_plan([](CtaMachine& machine) {
    const Fragment tile = machine.fragment(16, 256, ElementType::fp32, Layout::accumulator, kSplit);
    const RowVector sum = machine.row_vector(tile);
    machine.load(tile, {2, 0, 0, 0, 16, 256});
    machine.reduce_rows(sum, Reduce::sum, tile, false);
    machine.finish_rows(sum, Reduce::sum);
    machine.apply(tile, BinaryOp::multiply, tile, sum);
    machine.store({2, 0, 0, 0, 16, 256}, tile);
  });
  plan.tensors.push_back({"z", trace::TensorKind::output, 1, 16, 256, ElementType::fp32});
  plan.launches[0].registers_per_thread = 128;
  const std::string message = refusal(plan);
  EXPECT_TRUE(message.starts_with("kernel idea: launch copy: ")) << message;
  EXPECT_NE(message.find("registers hold values at once, registers_per_thread declares 128"),
            std::string::npos)
      << message;
  plan.launches[0].registers_per_thread = 168;
  EXPECT_EQ(refusal(plan), "");
}

TEST(BrokenKernels, ArithmeticBetweenLayouts) {
  const auto convert = [](Layout from, Layout to) {
    return refusal(copying_plan([=](CtaMachine& machine) {
      machine.convert(machine.fragment(16, 64, ElementType::fp16, to, kSplit),
                      machine.fragment(16, 64, ElementType::fp32, from, kSplit));
    }));
  };
  EXPECT_EQ(convert(Layout::accumulator, Layout::accumulator), "");
  EXPECT_EQ(
      convert(Layout::accumulator, Layout::row_per_warp),
      "kernel idea: launch copy: arithmetic on a tile 16 x 64 accumulator split 1 x 1 x 1 and a tile 16 "
      "x 64 row_per_warp split 1 x 1 x 1: its elements would change lanes; legal is one shape, layout "
      "and split, or the way through shared memory");
}

TEST(BrokenKernels, RowsThatShareAWarpMovedToOrFromMemory) {
  const auto store = [](int columns) {
    return refusal(copying_plan([=](CtaMachine& machine) {
      machine.store({1, 0, 0, 0, 16, columns},
                    machine.fragment(16, columns, ElementType::fp16, Layout::row_per_warp, kSplit));
    }));
  };
  EXPECT_EQ(store(64), "");
  EXPECT_NE(store(16).find("rows that share a warp go through shared memory only"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::tests
