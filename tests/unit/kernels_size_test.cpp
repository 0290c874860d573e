// Problems that are too large for the memory of the GPU, or for the text of a kernel.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <map>
#include <string_view>

#include "kernels/compiler/code_emitter.hpp"
#include "kernels/kernel.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/unsupported.hpp"
#include "tests/support/gpu_limits.hpp"

namespace warpscope::tests {
namespace {

using kernels::GpuLimits;
using kernels::Problem;

std::string answer(const kernels::Kernel& kernel, const Problem& problem, std::int64_t memory_bytes) {
  GpuLimits limits = kA100;
  limits.memory_bytes = memory_bytes;
  try {
    kernel.plan(problem, limits);
  } catch (const kernels::UnsupportedProblem& error) {
    return error.what();
  }
  return "accepted";
}

// Q, K, V and O are 512 * 64 fp16 numbers each for 6 heads, scores 512 * 512. LSE has a number per row.
const std::map<std::string_view, std::int64_t> kNeededBytes = {
    {"fa1", 6 * 512 * (4 * 64 * 2 + 4 + 64 * 4)},  // o_tmp in fp32
    {"fa2", 6 * 512 * (4 * 64 * 2 + 4)},
    {"fa2_torch", 6 * 512 * (4 * 64 * 2 + 4)},
    {"fa2_kvcache", 6 * 512 * (4 * 64 * 2 + 4)},
    {"xformers", 6 * 512 * (4 * 64 * 2 + 4)},
    {"triton", 6 * 512 * (4 * 64 * 2 + 2 * 4)},  // row sums and row maxima
    {"triton_seqpar", 6 * 512 * (4 * 64 * 2 + 2 * 4)},
    // With copies of q and k, and of v at the time when scores still live.
    {"standard", 6 * 512 * (7 * 64 * 2 + 2 * 512 * 2)},
    {"standard_eager", 6 * 512 * (3 * 64 * 2 + 2 * 512 * 2)},
    // Matrices of 512 x 64, and two of 64 x 64 for the products.
    {"gemm", 2 * (2 * 512 * 64 + 64 * 64) * 2},
    {"row_softmax", 2 * 512 * 64 * 2},
};

TEST(KernelMemory, TensorsThatLiveAtOnceMustFit) {
  Problem problem{2, 3, 3, 512, 512, 64, false};
  problem.matrix = {512, 64, 64};
  for (const kernels::Kernel& kernel : kernels::all_kernels()) {
    problem.type = kernel.type;
    const std::int64_t needed = kNeededBytes.at(kernel.name);
    EXPECT_EQ(answer(kernel, problem, needed), "accepted") << kernel.name;
    EXPECT_EQ(
        answer(kernel, problem, needed - 1),
        fmt::format("out of memory: {} bytes of tensors live at once, the GPU has {}", needed, needed - 1))
        << kernel.name;
    EXPECT_EQ(answer(kernel, problem, 0), "accepted") << kernel.name << ", memory not known";
  }
}

TEST(KernelMemory, LargestLegalProblemIsRefusedNotMiscounted) {
  for (const std::int64_t memory : {std::int64_t{0}, std::int64_t{80} << 30}) {
    for (const bool causal : {false, true}) {
      const Problem largest{65535, 65535, 65535, 1048576, 1048576, 128, causal};
      for (const kernels::Kernel& kernel : kernels::all_kernels()) {
        if (kernel.type == kernels::ProblemType::attention) {
          EXPECT_EQ(answer(kernel, largest, memory).substr(0, 15), "out of memory: ") << kernel.name;
        }
      }
    }
  }
}

// With few heads FlashAttention-1 splits a causal problem so that the steps of CTAs repeat late.
TEST(KernelText, OneHeadOfManyTokensIsSupported) {
  for (const std::int64_t seqlen : {4096, 16384, 65536}) {
    EXPECT_NO_THROW(kernels::find_kernel("fa1").build({1, 1, 1, seqlen, seqlen, 64, true}, kA100)) << seqlen;
  }
}

TEST(KernelText, BeyondTheNumbersOfRegistersIsNotSupported) {
  const kernels::BuildFigures build;
  kernels::CodeEmitter emitter(kernels::CompilerTarget{}, 0, build, 4);
  const auto tiles = [&](int count) {
    for (int i = 0; i < count; ++i) {
      emitter.allocate(250);
    }
  };
  EXPECT_NO_THROW(tiles(16)) << "of 4096";
  EXPECT_THROW(tiles(1), kernels::UnsupportedProblem);
}

}  // namespace
}  // namespace warpscope::tests
