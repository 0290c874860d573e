// Numbers of the kernels between FlashAttention-1 and FlashAttention-2, and what their names mean.
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kernels/compiler/lower.hpp"
#include "kernels/fa1/fa1.hpp"
#include "kernels/fa2/fa2.hpp"
#include "kernels/unsupported.hpp"
#include "kernels/variants/changes.hpp"
#include "kernels/variants/variant.hpp"
#include "model/trace/text_writer.hpp"
#include "tests/support/gpu_limits.hpp"
#include "tests/support/reference_attention.hpp"

namespace warpscope::tests {
namespace {

using kernels::AttentionOptions;
using kernels::Problem;
using kernels::variants::all_changes;
using kernels::variants::Change;

/// Log-sum-exp of every row, which some variants keep as a maximum and a sum.
std::vector<float> lse_of(const kernels::TensorValues& tensors, const Problem& problem) {
  const bool has_sum = tensors.contains("row_max");
  const std::vector<float>& kept = tensors.at(has_sum ? "row_max" : "LSE");
  const std::size_t segments = static_cast<std::size_t>(problem.batch * problem.heads);
  const std::size_t padded = kept.size() / segments;
  std::vector<float> result;
  for (std::size_t segment = 0; segment < segments; ++segment) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(problem.seqlen_q); ++i) {
      const std::size_t at = segment * padded + i;
      result.push_back(kept[at] + (has_sum ? std::log(tensors.at("row_sum")[at]) : 0.0F));
    }
  }
  return result;
}

void expect_attention(const kernels::Kernel& kernel, const Problem& problem) {
  SCOPED_TRACE(testing::Message() << kernel.name << " " << problem.seqlen_q << " d" << problem.head_dim
                                  << (problem.causal ? " causal" : ""));
  const kernels::TensorValues inputs = random_inputs(problem, 3);
  const ReferenceOutput want = reference_attention(problem, inputs);
  const kernels::TensorValues got = run_numeric(kernel.plan(problem, kA100), inputs).tensors;
  EXPECT_LE(largest_error(got.at("O"), want.output), 0x1p-10);
  EXPECT_LE(largest_error(lse_of(got, problem), want.lse), 5.0e-6);
}

Problem square(std::int64_t heads, std::int64_t seqlen, std::int64_t head_dim, bool causal) {
  return {1, heads, heads, seqlen, seqlen, head_dim, causal};
}

void expect_attention_on_shapes(const kernels::Kernel& kernel) {
  for (const bool causal : {false, true}) {
    expect_attention(kernel, square(2, 256, 64, causal));
    expect_attention(kernel, square(1, 512, 128, causal));
  }
  expect_attention(kernel, square(1, 300, 64, false));
}

const std::vector<Change>& forward_changes() {
  static const std::vector<Change> kChanges = kernels::variants::changes_of(kernels::Pass::forward);
  return kChanges;
}

class EachChange : public testing::TestWithParam<std::size_t> {
 protected:
  const Change& change() const { return forward_changes()[GetParam()]; }
};

TEST_P(EachChange, AloneOnFa1AndTakenFromFa2ComputesAttention) {
  for (const std::string base : {"fa1", "fa2"}) {
    const AttentionOptions options = kernels::variants::read_options(base);
    const std::string sign = options.*change().option ? "-" : "+";
    expect_attention_on_shapes(kernels::find_kernel(base + sign + std::string(change().name)));
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, EachChange, testing::Range(std::size_t{0}, forward_changes().size()),
                         [](const auto& tested) {
                           return std::string(forward_changes()[tested.param].name);
                         });

TEST(Variants, EveryRungOfTheLadderComputesAttention) {
  std::string name = "fa1";
  for (const Change& change : all_changes()) {
    if (change.is_on_ladder(kernels::Pass::forward)) {
      name += "+" + std::string(change.name);
      expect_attention_on_shapes(kernels::find_kernel(name));
    }
  }
  EXPECT_EQ(kernels::forward_choices(kernels::variants::read_options(name)), kernels::kFa2Options);
}

TEST(Variants, AnyChoiceComputesAttention) {
  std::mt19937 random(7);
  for (int i = 0; i < 60; ++i) {
    AttentionOptions options;
    for (const Change& change : all_changes()) {
      options.*change.option = random() % 2 == 1;
    }
    const std::int64_t head_dim = random() % 2 == 1 ? 64 : 128;
    expect_attention(kernels::variants::variant(options, "choice " + std::to_string(i)),
                     square(1 + static_cast<std::int64_t>(random() % 3), 512, head_dim, random() % 2 == 1));
  }
}

TEST(Variants, RaggedLengthsComputeAttentionOrAreRefused) {
  int refused = 0;
  for (const Change& change : forward_changes()) {
    for (const std::string base : {"fa1", "fa2"}) {
      const AttentionOptions options = kernels::variants::read_options(base);
      const std::string sign = options.*change.option ? "-" : "+";
      for (const std::int64_t seqlen : {1, 65, 333}) {
        try {
          expect_attention(kernels::find_kernel(base + sign + std::string(change.name)),
                           square(1, seqlen, 64, true));
        } catch (const kernels::UnsupportedProblem&) {
          ++refused;
        }
      }
    }
  }
  // Those whose CTAs walk over several query blocks: fa1+q_stationary and fa2-seq_parallel.
  EXPECT_EQ(refused, 6);
}

TEST(Variants, EndsOfTheLadderAreTheKernels) {
  const Problem problem = square(4, 512, 128, true);
  const auto text = [&](const kernels::Kernel& kernel) {
    return trace::to_text(kernel.build(problem, kA100));
  };
  EXPECT_EQ(text(kernels::find_kernel("fa1+split_q+q_stationary+deferred+mask_at_edge+seq_parallel+cp_async"
                                      "+fa2_tile")),
            text(kernels::find_kernel("fa2")));
  EXPECT_EQ(text(kernels::find_kernel("fa1-lse+lse")), text(kernels::find_kernel("fa1")));
  EXPECT_NE(text(kernels::find_kernel("fa1-lse")), text(kernels::find_kernel("fa1")));
}

TEST(Variants, TilesOfOnesOwnComputeAttention) {
  for (const char* tile : {"64x64x4", "128x32x4", "64x128x4", "128x128x8", "32x64x2"}) {
    expect_attention_on_shapes(kernels::find_kernel(std::string("fa2+tile=") + tile));
  }
  const Problem problem = square(1, 512, 128, true);
  EXPECT_EQ(kernels::find_kernel("fa2+tile=128x64x4").plan(problem, kA100).launches.at(0).grid[0], 4U);
  EXPECT_EQ(kernels::find_kernel("fa2+tile=64x64x4").plan(problem, kA100).launches.at(0).grid[0], 8U);
  // (64 x 64 + 64 x 128) / 128 accumulators and 92 more; ptxas took 184 for this tile.
  EXPECT_EQ(kernels::find_kernel("fa2+tile=64x64x4").plan(problem, kA100).launches.at(0).registers_per_thread,
            188U);
}

TEST(Variants, TilesThatCannotBeAreRefused) {
  const Problem problem = square(1, 512, 128, false);
  for (const char* tile : {"256x128x4", "128x40x4", "96x64x4", "128x512x8", "64x96x4", "128x96x4"}) {
    EXPECT_THROW(kernels::find_kernel(std::string("fa2+tile=") + tile).plan(problem, kA100),
                 kernels::UnsupportedProblem)
        << tile;
  }
  EXPECT_THROW(kernels::find_kernel("fa1+tile=64x64x4").plan(problem, kA100), kernels::UnsupportedProblem);
  for (const char* tile : {"", "64", "64x64", "64x64x", "64x64x4x", "0x64x4", "x64x4", "64x64x4096"}) {
    EXPECT_THROW(kernels::find_kernel(std::string("fa2+tile=") + tile), std::invalid_argument) << tile;
  }
}

TEST(Variants, WrongNamesSayWhatIsLegal) {
  const auto message = [](const std::string& name) {
    try {
      kernels::find_kernel(name);
    } catch (const std::invalid_argument& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  EXPECT_NE(message("fa1+splitq").find("unknown change 'splitq'; legal are skip_masked, lse, split_q"),
            std::string::npos);
  EXPECT_NE(message("fa2+split_q").find("split_q is there already"), std::string::npos);
  EXPECT_NE(message("fa1-split_q").find("split_q is not there to be taken away"), std::string::npos);
  EXPECT_NE(message("standard+split_q").find("'standard' has no variants"), std::string::npos);
  EXPECT_NE(message("fa1+").find("unknown change ''"), std::string::npos);
}

}  // namespace
}  // namespace warpscope::tests
