// Gradients of the kernels between FlashAttention-1 and FlashAttention-2, against double precision, and which
// choices the backward pass has.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/machine/plan.hpp"
#include "kernels/numeric/check_numbers.hpp"
#include "kernels/unsupported.hpp"
#include "kernels/variants/changes.hpp"
#include "kernels/variants/variant.hpp"
#include "model/trace/text_writer.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::AttentionOptions;
using kernels::GpuLimits;
using kernels::Pass;
using kernels::Problem;
using kernels::variants::Change;
using kernels::variants::changes_of;

// Few heads fill one SM, so that FlashAttention-1 gives a CTA a whole head; on 108 it gives it a key block.
constexpr GpuLimits kOneSm{8, 0, 1, 164 * 1024, 163 * 1024, 0};

Problem backward(std::int64_t seqlen_q, std::int64_t seqlen_k, std::int64_t head_dim, bool causal) {
  return {1, 1, 1, seqlen_q, seqlen_k, head_dim, causal, kernels::DataType::fp16, Pass::backward};
}

void expect_gradients(const kernels::Kernel& kernel, const Problem& problem, const GpuLimits& gpu) {
  SCOPED_TRACE(testing::Message() << kernel.name << " " << problem.seqlen_q << " d" << problem.head_dim
                                  << (problem.causal ? " causal" : "") << " " << gpu.sm_count << " SMs");
  const kernels::NumberCheck check = check_numbers(kernel, problem, gpu);
  EXPECT_EQ(check.outputs.size(), problem.pass == Pass::both ? 4U : 3U);
  for (const kernels::OutputCheck& output : check.outputs) {
    EXPECT_TRUE(output.passed()) << output.tensor << ": " << output.largest_error;
  }
}

void expect_gradients_on_shapes(const kernels::Kernel& kernel) {
  for (const GpuLimits& gpu : {kOneSm, kA100}) {
    expect_gradients(kernel, backward(512, 512, 64, true), gpu);
    expect_gradients(kernel, backward(256, 256, 128, true), gpu);
    expect_gradients(kernel, backward(256, 333, 64, false), gpu);
    expect_gradients(kernel, backward(128, 256, 128, false), gpu);
  }
}

std::string ladder_to(std::string_view last) {
  std::string name = "fa1";
  for (const Change& change : changes_of(Pass::backward)) {
    if (change.is_on_ladder(Pass::backward)) {
      name += "+" + std::string(change.name);
      if (change.name == last) {
        break;
      }
    }
  }
  return name;
}

class BackwardRung : public testing::TestWithParam<const char*> {};

TEST_P(BackwardRung, ComputesGradients) {
  expect_gradients_on_shapes(kernels::find_kernel(ladder_to(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Variants, BackwardRung,
                         testing::Values("split_q", "mask_at_edge", "seq_parallel", "cp_async", "fa2_tile",
                                         "warp_grid"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST(VariantsBackward, SingleChangesComputeGradients) {
  for (const char* name : {"fa1+mask_at_edge", "fa1+seq_parallel", "fa1+cp_async", "fa2-mask_at_edge",
                           "fa2-cp_async", "fa2-warp_grid", "fa1+q_stationary"}) {
    expect_gradients_on_shapes(kernels::find_kernel(name));
  }
}

TEST(VariantsBackward, BothPassesOfOneVariantFit) {
  for (const char* name : {"fa1+split_q", "fa1+q_stationary", "fa1+deferred", "fa2-cp_async"}) {
    Problem problem = backward(512, 512, 64, true);
    problem.pass = Pass::both;
    expect_gradients(kernels::find_kernel(name), problem, kA100);
    EXPECT_NO_THROW(kernels::find_kernel(name).build(problem, kA100)) << name;
  }
}

TEST(VariantsBackward, AnyChoiceComputesGradientsOrIsRefused) {
  const std::vector<Change> changes = changes_of(Pass::backward);
  ASSERT_EQ(changes.size(), 6U);
  int refused = 0;
  for (unsigned choice = 0; choice < 1U << changes.size(); ++choice) {
    AttentionOptions options = kernels::kFa1Options;
    for (std::size_t i = 0; i < changes.size(); ++i) {
      options.*changes[i].option = (choice >> i & 1U) != 0;
    }
    try {
      expect_gradients(kernels::variants::variant(options, "choice " + std::to_string(choice)),
                       backward(256, 256, 64, choice % 3 == 0), choice % 2 == 0 ? kOneSm : kA100);
    } catch (const kernels::UnsupportedProblem&) {
      ++refused;
    }
  }
  // 16 without fa2_tile but with warp_grid, 24 of 32 with fa2_tile but not both of what it needs.
  EXPECT_EQ(refused, 16 + 24);
}

TEST(VariantsBackward, LadderEndsAtTheKernels) {
  const auto text = [](const std::string& name) {
    return trace::to_text(kernels::find_kernel(name).build(backward(512, 512, 128, true), kA100));
  };
  EXPECT_EQ(ladder_to("warp_grid"), "fa1+split_q+mask_at_edge+seq_parallel+cp_async+fa2_tile+warp_grid");
  EXPECT_EQ(text(ladder_to("warp_grid")), text("fa2"));
  EXPECT_EQ(text("fa1+deferred"), text("fa1")) << "a choice of the forward pass";
  EXPECT_NE(text("fa1+split_q"), text("fa1"));
  EXPECT_NE(text("fa2-warp_grid"), text("fa2"));
}

TEST(VariantsBackward, WholeDqNeedsNoRoomForParts) {
  const auto launch = [](const char* name, std::int64_t head_dim) {
    const kernels::KernelPlan plan =
        kernels::find_kernel(name).plan(backward(4096, 4096, head_dim, false), kA100);
    EXPECT_EQ(plan.launches.size(), 4U);
    return plan.launches.at(2);
  };
  // Eight parts of 16 x 128 in fp32 less; at 64 also steps of 32 queries in place of 16.
  EXPECT_EQ(launch("fa1", 128).shared_bytes_per_cta, 155648U);
  EXPECT_EQ(launch("fa1+split_q", 128).shared_bytes_per_cta, 155648U - 8 * 16 * 128 * 4);
  EXPECT_EQ(launch("fa1", 64).shared_bytes_per_cta, 122880U);
  EXPECT_EQ(launch("fa1+split_q", 64).shared_bytes_per_cta, 2U * (4 * 32 * 64 + 2 * 256 * 64 + 2 * 32 * 256));
  EXPECT_EQ(launch("fa1", 64).classes.at(0).trip_counts.at(0), 256U);
  EXPECT_EQ(launch("fa1+split_q", 64).classes.at(0).trip_counts.at(0), 128U);
}

TEST(VariantsBackward, RefusalsSayWhatIsMissing) {
  const auto reason = [](const char* name, const Problem& problem) {
    try {
      kernels::find_kernel(name).plan(problem, kA100);
    } catch (const kernels::UnsupportedProblem& refused) {
      return std::string(refused.what());
    }
    return std::string("accepted");
  };
  const Problem problem = backward(256, 256, 64, false);
  EXPECT_NE(reason("fa1+fa2_tile", problem).find("needs split_q for fa2_tile"), std::string::npos);
  EXPECT_NE(reason("fa1+warp_grid", problem).find("needs fa2_tile for warp_grid"), std::string::npos);
  EXPECT_NE(reason("fa2-seq_parallel", problem).find("needs seq_parallel"), std::string::npos);
  EXPECT_NE(reason("fa1-lse", problem).find("needs lse"), std::string::npos);
  EXPECT_NE(reason("fa2+tile=64x64x4", problem).find("no tiles of one's own"), std::string::npos);
  EXPECT_NE(reason("fa1+split_q", backward(250, 256, 64, false)).find("multiple of 128, got 250"),
            std::string::npos);
  EXPECT_NE(reason("fa2-warp_grid", backward(256, 256, 192, false)).find("needs 16 keys of its own"),
            std::string::npos);
}

}  // namespace
}  // namespace warpscope::tests
