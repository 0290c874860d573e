// The gradients that backward passes are checked against, themselves against differences of the forward pass.
#include "kernels/numeric/attention_gradients.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>

#include "kernels/numeric/attention.hpp"

namespace warpscope::tests {
namespace {

using namespace kernels;

TensorValues inputs_of(const Problem& problem) {
  TensorValues inputs = random_inputs(problem, 7);
  std::uint32_t state = 11;
  inputs["dO"] = random_values(inputs["Q"].size(), ElementType::fp16, state, 1.0F);
  return inputs;
}

/// sum(O * dO), of which gradients are taken.
double loss(const Problem& problem, const TensorValues& inputs) {
  const std::vector<double> output = reference_attention(problem, inputs).output;
  double sum = 0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    sum += output[i] * static_cast<double>(inputs.at("dO")[i]);
  }
  return sum;
}

class Gradients : public testing::TestWithParam<Problem> {};

TEST_P(Gradients, EqualCentralDifferences) {
  const Problem& problem = GetParam();
  const TensorValues inputs = inputs_of(problem);
  constexpr float kStep = 0x1p-10F;  // a sum with a number of 11 bits below 2 is exact in 24
  for (const Reference& gradient : reference_gradients(problem, inputs)) {
    const std::string input = gradient.tensor.substr(1);
    ASSERT_EQ(gradient.values.size(), inputs.at(input).size());
    for (std::size_t i = 0; i < gradient.values.size(); ++i) {
      TensorValues above = inputs;
      TensorValues below = inputs;
      above[input][i] += kStep;
      below[input][i] -= kStep;
      const double slope = (loss(problem, above) - loss(problem, below)) / (2 * static_cast<double>(kStep));
      // The error of central differences goes with the third derivative and the square of the step.
      ASSERT_NEAR(gradient.values[i], slope, 4e-6) << gradient.tensor << " " << i;
      ASSERT_LE(std::abs(gradient.values[i]), gradient.magnitude * 1.000001) << gradient.tensor;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Gradients,
                         testing::Values(Problem{1, 1, 1, 5, 5, 8, false}, Problem{2, 2, 2, 4, 4, 8, true},
                                         Problem{1, 4, 2, 3, 6, 8, true}, Problem{1, 2, 1, 6, 3, 8, true},
                                         Problem{1, 3, 1, 4, 7, 16, false}));

TEST(SavedByForward, IsWhatFlashAttentionLeavesBehind) {
  const Problem problem{1, 1, 1, 4, 2, 8, true};  // the first two queries see no key
  const TensorValues inputs = inputs_of(problem);
  const AttentionOutput want = reference_attention(problem, inputs);
  const std::vector<float> lse = saved_by_forward("LSE", 6, problem, inputs);
  ASSERT_EQ(lse.size(), 6U);
  EXPECT_TRUE(std::isinf(lse[0]) && lse[0] > 0);
  EXPECT_FLOAT_EQ(lse[3], static_cast<float>(want.lse[3]));
  EXPECT_EQ(lse[5], 0);
  EXPECT_FLOAT_EQ(saved_by_forward("O", 4, problem, inputs)[31], static_cast<float>(want.output[31]));
  const std::vector<float> p = saved_by_forward("probabilities", 4, problem, inputs);
  EXPECT_EQ(std::vector<float>(p.begin(), p.begin() + 6), (std::vector<float>{0, 0, 0, 0, 1, 0}));
  EXPECT_FLOAT_EQ(p[6] + p[7], 1);
  EXPECT_THROW(saved_by_forward("K", 4, problem, inputs), std::logic_error);
}

}  // namespace
}  // namespace warpscope::tests
