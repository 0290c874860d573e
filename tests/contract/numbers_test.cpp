// Numbers of every attention kernel, on the numeric machine, against attention in double precision.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/reference_attention.hpp"

namespace warpscope::tests {
namespace {

using kernels::DataType;
using kernels::Problem;

struct Case {
  std::string kernel;
  std::int64_t seqlen_q;
  std::int64_t seqlen_k;
  std::int64_t head_dim = 64;
  bool causal = false;
  std::int64_t heads = 2;
  std::int64_t heads_kv = 2;
  DataType dtype = DataType::fp16;
  float amplitude = 1.0F;
};

Problem problem_of(const Case& c) {
  return {1, c.heads, c.heads_kv, c.seqlen_q, c.seqlen_k, c.head_dim, c.causal, c.dtype};
}

// One unit in the last place of O near 1, and for standard attention the rounding of scores and probabilities
// in HBM.
double output_tolerance(const Case& c) {
  const double unit = c.dtype == DataType::fp16 ? 0x1p-10 : 0x1p-7;
  const bool rounds_scores = c.kernel.starts_with("standard");
  return unit * (rounds_scores ? 2 : 1) * static_cast<double>(c.amplitude);
}

// Segments padded to more rows than there are queries lose the rest.
std::vector<float> without_padding(const std::vector<float>& values, std::size_t rows, std::size_t segments) {
  std::vector<float> result;
  const std::size_t padded = values.size() / segments;
  for (std::size_t s = 0; s < segments; ++s) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(s * padded);
    result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(rows));
  }
  return result;
}

std::string name_of(const Case& c) {
  return c.kernel + " " + std::to_string(c.seqlen_q) + "x" + std::to_string(c.seqlen_k) + " d" +
         std::to_string(c.head_dim) + (c.causal ? " causal" : "") +
         (c.dtype == DataType::bf16 ? " bf16" : "") + " heads " + std::to_string(c.heads) + "/" +
         std::to_string(c.heads_kv);
}

struct Outputs {
  kernels::TensorValues got;
  ReferenceOutput want;
};

Outputs compute(const Case& c) {
  const Problem problem = problem_of(c);
  const kernels::KernelPlan plan = kernels::find_kernel(c.kernel).plan(problem, kA100);
  kernels::TensorValues inputs = random_inputs(problem, 1, c.amplitude);
  ReferenceOutput want = reference_attention(problem, inputs);
  for (const kernels::TensorSpec& spec : plan.tensors) {
    if (spec.name == "causal_mask") {
      inputs[spec.name] = causal_mask(problem);
    }
  }
  return {run_numeric(plan, inputs).tensors, std::move(want)};
}

void expect_attention(const Case& c) {
  SCOPED_TRACE(name_of(c));
  Outputs result = compute(c);
  EXPECT_LE(largest_error(result.got.at("O"), result.want.output), output_tolerance(c));
  if (result.got.contains("LSE")) {
    const std::vector<float> lse = without_padding(result.got.at("LSE"), static_cast<std::size_t>(c.seqlen_q),
                                                   static_cast<std::size_t>(c.heads));
    // fp32 sums of products that are exact: the error grows with the largest score only.
    EXPECT_LE(largest_error(lse, result.want.lse), 1.0e-6 * (4.0 + std::pow(c.amplitude, 2)));
  }
}

class Numbers : public testing::TestWithParam<std::string> {};

TEST_P(Numbers, OddLengths) {
  for (const std::int64_t q : {1, 17, 63, 113, 129, 200}) {
    expect_attention({GetParam(), q, q});
    expect_attention({GetParam(), q, 2 * q + 1});
    expect_attention({GetParam(), q, 257});
  }
}

TEST_P(Numbers, Causal) {
  for (const std::int64_t n : {1, 17, 63, 113, 129, 200, 300}) {
    expect_attention({GetParam(), n, n, 64, true});
    expect_attention({GetParam(), n, n, 128, true, 1, 1});
  }
}

TEST_P(Numbers, HeadDims) {
  for (const std::int64_t d : {8, 32, 40, 64, 72, 96, 128}) {
    expect_attention({GetParam(), 65, 300, d});
    expect_attention({GetParam(), 130, 130, d, true, 1, 1, DataType::bf16});
  }
}

TEST_P(Numbers, Bfloat) {
  for (const std::int64_t n : {33, 150, 280}) {
    expect_attention({GetParam(), n, n, 64, false, 1, 1, DataType::bf16});
    expect_attention({GetParam(), n, n, 128, true, 1, 1, DataType::bf16});
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Numbers,
                         testing::Values("fa1", "fa2", "fa2_torch", "standard", "standard_eager", "xformers"),
                         [](const auto& tested) { return tested.param; });

// Longer rows are softmax kernels of their own: in registers, in shared memory.
TEST(StandardNumbers, LongRows) {
  for (const std::int64_t keys : {2056, 3001, 9304}) {
    for (const bool causal : {false, true}) {
      expect_attention({"standard_eager", 5, keys, 64, causal});
    }
  }
}

class FlashNumbers : public testing::TestWithParam<std::string> {};

TEST_P(FlashNumbers, LargeScores) {
  // Scores reach about +-60, so that most exponentials vanish and every row depends on its maximum.
  Case c{GetParam(), 150, 280};
  c.amplitude = 8.0F;
  expect_attention(c);
  c.seqlen_q = c.seqlen_k;
  c.causal = true;
  expect_attention(c);
}

INSTANTIATE_TEST_SUITE_P(Kernels, FlashNumbers, testing::Values("fa1", "fa2", "fa2_torch", "xformers"),
                         [](const auto& tested) { return tested.param; });

class Fa2Numbers : public testing::TestWithParam<std::string> {};

TEST_P(Fa2Numbers, LargeHeadDims) {
  for (const std::int64_t d : {160, 192, 224, 256}) {
    expect_attention({GetParam(), 113, 200, d, false, 1, 1});
    expect_attention({GetParam(), 129, 129, d, true, 1, 1});
  }
}

TEST_P(Fa2Numbers, GroupedQueries) {
  expect_attention({GetParam(), 70, 150, 64, false, 6, 2});
  expect_attention({GetParam(), 150, 150, 128, true, 4, 1});
}

TEST_P(Fa2Numbers, CausalWithOtherLengthOfKeys) {
  expect_attention({GetParam(), 60, 200, 64, true});
  expect_attention({GetParam(), 1, 129, 128, true});
  expect_attention({GetParam(), 200, 333, 32, true});
}

TEST_P(Fa2Numbers, RowsWithoutKeysAreZeroWithInfiniteLse) {
  const Case c{GetParam(), 200, 70, 64, true};
  Outputs result = compute(c);
  EXPECT_LE(largest_error(result.got.at("O"), result.want.output), output_tolerance(c));
  // FlashAttention-2 stores +inf where mathematics says -inf.
  for (double& value : result.want.lse) {
    value = std::isinf(value) ? std::numeric_limits<double>::infinity() : value;
  }
  EXPECT_LE(largest_error(result.got.at("LSE"), result.want.lse), 1.0e-5);
}

INSTANTIATE_TEST_SUITE_P(Kernels, Fa2Numbers, testing::Values("fa2", "fa2_torch"),
                         [](const auto& tested) { return tested.param; });

TEST(XformersNumbers, OutputInMemory) {
  for (const std::int64_t d : {136, 160, 192, 256}) {
    expect_attention({"xformers", 113, 300, d, false, 1, 1});
    expect_attention({"xformers", 40, 128, d, false, 1, 1});
    expect_attention({"xformers", 300, 300, d, true, 1, 1, DataType::bf16});
  }
}

TEST(Fa1Numbers, SplitsThatDoNotDivideTheKeyBlocks) {
  // The number of SMs decides how many CTAs share a head: here 6 and 14, with periods of 3 and 7 key blocks.
  for (const int sms : {3, 7}) {
    SCOPED_TRACE(std::to_string(sms) + " SMs");
    const Problem problem{1, 1, 1, 1100, 1100, 72, true};
    const kernels::GpuLimits limits{8, 0, sms, 164 * 1024, 163 * 1024, 0};
    const kernels::TensorValues inputs = random_inputs(problem, 7);
    const kernels::KernelPlan plan = kernels::find_kernel("fa1").plan(problem, limits);
    EXPECT_EQ(plan.launches.at(0).grid[2], static_cast<std::uint32_t>(2 * sms));
    const ReferenceOutput want = reference_attention(problem, inputs);
    EXPECT_LE(largest_error(run_numeric(plan, inputs).tensors.at("O"), want.output), 0x1p-10);
  }
}

TEST(Fa1Numbers, RefusesWhatTheLibraryRefuses) {
  const kernels::Kernel& fa1 = kernels::find_kernel("fa1");
  const Problem good{1, 4, 4, 64, 64, 64, true};
  const auto refuses = [&](void (*spoil)(Problem&), const std::string& reason) {
    Problem problem = good;
    spoil(problem);
    try {
      fa1.plan(problem, kA100);
      ADD_FAILURE() << "accepted: " << reason;
    } catch (const kernels::UnsupportedProblem& error) {
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
  };
  EXPECT_NO_THROW(fa1.plan(good, kA100));
  refuses([](Problem& p) { p.heads_kv = 2; }, "GQA");
  refuses([](Problem& p) { p.head_dim = 136; }, "head_dim");
  refuses([](Problem& p) { p.head_dim = 60; }, "head_dim");
  refuses([](Problem& p) { p.seqlen_k = 65; }, "top left");
  refuses(
      [](Problem& p) {
        p.pass = kernels::Pass::backward;
        p.heads_kv = 2;
      },
      "GQA");
}

}  // namespace
}  // namespace warpscope::tests
