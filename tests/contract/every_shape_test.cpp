// Each kernel at each head dimension, with few heads and with many: it builds, or says why the real one
// refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "kernels/kernel.hpp"
#include "kernels/unsupported.hpp"
#include "model/trace/code_places.hpp"
#include "model/trace/statistics.hpp"
#include "tests/support/attention_kernels.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

class EveryShape : public testing::TestWithParam<std::string_view> {};

/// Warp instructions of a build; 0 where the kernel refuses the problem, for which it has to give a reason.
std::uint64_t built_instructions(const kernels::Kernel& kernel, const kernels::Problem& problem) {
  try {
    std::uint64_t sum = 0;
    for (const trace::Launch& launch : kernel.build(problem, kH200).launches) {
      sum += trace::total(trace::executed_instructions(launch));
    }
    EXPECT_GT(sum, 0U);
    return sum;
  } catch (const kernels::UnsupportedProblem& refusal) {
    EXPECT_NE(std::string(refusal.what()), "");
    return 0;
  }
}

TEST_P(EveryShape, BuildsOrIsRefusedWithAReason) {
  const kernels::Kernel kernel = kernels::find_kernel(GetParam());
  for (const kernels::Pass pass : kernel.passes) {
    std::uint64_t instructions = 0;
    for (const std::int64_t head_dim : {32, 64, 96, 128, 192, 256}) {
      // FlashAttention-1 divides keys among CTAs where heads are few.
      for (const std::int64_t heads : {1, 2, 40}) {
        for (const std::int64_t tokens : {100, 640, 1499}) {
          for (const bool causal : {false, true}) {
            const kernels::Problem problem{
                3, heads, heads, tokens, tokens, head_dim, causal, kernels::DataType::fp16, pass};
            SCOPED_TRACE(testing::Message() << "d " << head_dim << ", " << heads << " heads, " << tokens
                                            << " tokens, causal " << causal);
            instructions += built_instructions(kernel, problem);
          }
        }
      }
    }
    EXPECT_GT(instructions, 0U) << "all refused in pass " << text(pass);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryShape, testing::ValuesIn(attention_kernels()),
                         [](const auto& parameter) { return std::string(parameter.param); });

TEST(EveryShapeOfFa1, AddsUpEachGradientOfAQueryOncePerBlockOfKeys) {
  // 32 columns of 16 rows are two registers a thread: pairs, not quads, are what its lanes touch.
  const kernels::Problem problem{
      1, 2, 2, 640, 640, 32, false, kernels::DataType::fp16, kernels::Pass::backward};
  std::uint64_t reductions = 0;
  for (const trace::Launch& launch : kernels::find_kernel("fa1").build(problem, kH200).launches) {
    const trace::OpcodeCounts counts = trace::executed_instructions(launch);
    const auto found = counts.find(trace::Opcode::RED_ADD_F32);
    reductions += found == counts.end() ? 0 : found->second;
  }
  const std::uint64_t gradients = 2 * 640 * 32;
  EXPECT_EQ(reductions * 32 % gradients, 0U);
  EXPECT_EQ(reductions * 32 / gradients, 3U) << "blocks of 256 keys";
}

/// Lines of code of 128 bytes that the forward pass has.
std::uint32_t lines_of_code(const kernels::Problem& problem) {
  const trace::Trace trace = kernels::find_kernel("fa1").build(problem, kH200);
  return std::ranges::max(trace::code_places(trace.launches.front())) / 8;
}

TEST(EveryShapeOfFa1, HasCodeOfOneSizeThoughHeadsAndTokensDecideWhichStepsACtaHas) {
  for (const std::int64_t head_dim : {64, 128}) {
    const auto lines = [&](std::int64_t batch, std::int64_t heads, std::int64_t tokens) {
      return lines_of_code({batch, heads, heads, tokens, tokens, head_dim, true});
    };
    // One CTA a head; 30, 22 or 29 CTAs that share the steps of a causal mask unevenly.
    const std::uint32_t expected = lines(4, 40, 2048);
    EXPECT_EQ(lines(2, 7, 2048), expected) << head_dim;
    EXPECT_EQ(lines(1, 12, 4096), expected) << head_dim;
    EXPECT_EQ(lines(1, 1, 8192), expected) << head_dim << ": a head alone";
  }
}

}  // namespace
}  // namespace warpscope::tests
