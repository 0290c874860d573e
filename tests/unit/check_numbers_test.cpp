// The check of a kernel's numbers: it passes what is right and no more.
#include "kernels/numeric/check_numbers.hpp"

#include <gtest/gtest.h>

#include "kernels/machine/plan.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

Problem rows_problem(std::int64_t rows, std::int64_t cols) {
  Problem problem;
  problem.type = ProblemType::rows;
  problem.matrix = {rows, cols, 0};
  return problem;
}

TEST(CheckNumbers, RowSoftmaxOfRaggedRowsPasses) {
  for (const std::int64_t rows : {1, 4, 7}) {
    for (const std::int64_t cols : {1, 31, 32, 100, 1024, 2048}) {
      const NumberCheck check = check_numbers(find_kernel("row_softmax"), rows_problem(rows, cols), kA100);
      EXPECT_TRUE(check.passed()) << rows << " x " << cols << ": " << check.outputs.at(0).largest_error
                                  << " above " << check.outputs.at(0).tolerance;
    }
  }
}

TEST(CheckNumbers, ToleranceIsAUnitInTheLastPlaceOfTheLargestValue) {
  // One column: every value is 1.
  EXPECT_DOUBLE_EQ(
      check_numbers(find_kernel("row_softmax"), rows_problem(4, 1), kA100).outputs.at(0).tolerance, 0x1p-10);
  Problem brain_float = rows_problem(4, 1);
  brain_float.dtype = DataType::bf16;
  EXPECT_DOUBLE_EQ(check_numbers(find_kernel("row_softmax"), brain_float, kA100).outputs.at(0).tolerance,
                   0x1p-7);
}

TEST(CheckNumbers, AnErrorOfTwoUnitsFails) {
  Kernel kernel = find_kernel("row_softmax");
  kernel.reference = [right = kernel.reference](const Problem& problem, const TensorValues& inputs) {
    Reference wrong = right(problem, inputs);
    wrong.values.back() += 2 * 0x1p-10 * wrong.magnitude;
    return wrong;
  };
  EXPECT_FALSE(check_numbers(kernel, rows_problem(4, 64), kA100).passed());
}

TEST(CheckNumbers, AProgramThatForgetsAReductionFails) {
  Kernel kernel = find_kernel("row_softmax");
  kernel.plan = [right = kernel.plan](const Problem& problem, const GpuLimits& limits) {
    KernelPlan plan = right(problem, limits);
    plan.launches[0].programs[0].text = [](CtaMachine& machine) {
      const Fragment stored =
          machine.fragment(4, 64, ElementType::fp16, Layout::row_per_warp, WarpSplit{4, 1, 1});
      machine.load(stored, {0, 0, block_index(0) * 4, 0, 4, 64});
      machine.store({1, 0, block_index(0) * 4, 0, 4, 64}, stored);
    };
    return plan;
  };
  EXPECT_FALSE(check_numbers(kernel, rows_problem(4, 64), kA100).passed());
}

}  // namespace
}  // namespace warpscope::tests
