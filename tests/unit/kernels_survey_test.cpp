// What is known of a kernel by planning and lowering it.
#include "kernels/kernel_survey.hpp"

#include <gtest/gtest.h>

#include "kernels/machine/plan.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;
using trace::Opcode;

/// A kernel of one CTA of one warp: a loop of `trips` times an add and a part to which figures may add.
Kernel toy(const BuildFigures& build, std::uint32_t trips) {
  Kernel kernel{"toy", "", [build, trips](const Problem& problem, const GpuLimits&) {
                  KernelPlan plan;
                  plan.tensors = {{"x", trace::TensorKind::input, 1, 1, problem.head_dim, ElementType::fp32}};
                  LaunchPlan launch;
                  launch.name = "toy";
                  launch.build = build;
                  launch.programs.push_back({"text", [](CtaMachine& m) {
                                               const Fragment x =
                                                   m.fragment(1, 128, ElementType::fp32, Layout::linear, {});
                                               m.fill(x, 0);
                                               m.loop(0, [&](const Affine&) {
                                                 m.part(1);
                                                 m.apply(x, BinaryOp::add, x, 1.0F);
                                               });
                                             }});
                  launch.classes.push_back({0, {trips}, {}});
                  plan.launches.push_back(launch);
                  return plan;
                }};
  return kernel;
}

std::uint64_t executed(const Kernel& kernel) {
  return trace::total(
      trace::executed_instructions(kernel.build(survey_problem(kernel, Pass::forward), kH200)));
}

TEST(KernelSurvey, SharesAreOfExecutedInstructions) {
  BuildFigures build;
  build.estimate_moves = false;
  const double without = static_cast<double>(executed(toy(build, 10)));
  EXPECT_EQ(table_share(toy(build, 10), survey_problem(toy(build, 10), Pass::forward), kH200), 0);
  // Spread, chained, and a branch that ends the block: 3 + 2 + 1 in each of 10 iterations.
  build.parts[{1, 0}] = {
      {.spread = {{Opcode::IADD3, 3}}, .chain = {{Opcode::LOP3, 2}}, .end = BlockEnd::branch}};
  const Kernel kernel = toy(build, 10);
  EXPECT_EQ(static_cast<double>(executed(kernel)), without + 60);
  const std::optional<double> share = table_share(kernel, survey_problem(kernel, Pass::forward), kH200);
  ASSERT_TRUE(share);
  EXPECT_DOUBLE_EQ(*share, 60 / (without + 60));
}

TEST(KernelSurvey, AsksTheKernelWhatItTakes) {
  const Kernel triton = find_kernel("triton");
  EXPECT_EQ(head_dims(triton, Pass::forward, kH200), (std::vector<std::int64_t>{16, 32, 64, 128}));
  EXPECT_EQ(head_dims(find_kernel("fa2_kvcache"), Pass::backward, kH200), std::vector<std::int64_t>{});
  EXPECT_FALSE(table_share(triton, survey_problem(triton, Pass::forward, 96), kH200));
  const std::vector<std::int64_t> fa2 = head_dims(find_kernel("fa2"), Pass::backward, kRtx3090);
  EXPECT_EQ(fa2.size(), 32U);
  EXPECT_EQ(survey_problem(find_kernel("gemm"), Pass::forward, 128).matrix.depth, 128);
}

}  // namespace
}  // namespace warpscope::tests
