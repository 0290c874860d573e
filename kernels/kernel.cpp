#include "kernels/kernel.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "kernels/compiler/lower.hpp"
#include "kernels/fa1/fa1.hpp"
#include "kernels/fa2/fa2.hpp"
#include "kernels/row_softmax/row_softmax.hpp"
#include "kernels/standard/matrix_product.hpp"
#include "kernels/standard/standard.hpp"
#include "kernels/triton/triton.hpp"
#include "kernels/unsupported.hpp"
#include "kernels/variants/variant.hpp"
#include "kernels/xformers/xformers.hpp"
#include "model/trace/stream.hpp"

namespace warpscope::kernels {
namespace {

/// What messages and the command call a feature, and which problems ask for it.
struct FeatureText {
  Feature feature;
  const char* name;
  const char* flag;
  bool (*asked)(const Problem&);
  Pass pass = Pass::forward;  ///< that has it
};

constexpr std::array kFeatureTexts = {
    FeatureText{Feature::splits, "num_splits", "--num-splits",
                [](const Problem& problem) { return problem.num_splits != 1; }},
    FeatureText{Feature::window, "a window", "--window",
                [](const Problem& problem) { return problem.window.is_given(); }},
    FeatureText{Feature::softcap, "softcap", "--softcap",
                [](const Problem& problem) { return problem.softcap != 0; }},
    FeatureText{Feature::alibi, "ALiBi", "--alibi", [](const Problem& problem) { return problem.alibi; }},
    FeatureText{Feature::lengths, "sequences of their own lengths", "--seqlens",
                [](const Problem& problem) { return !problem.seqlens.empty(); }},
    FeatureText{Feature::dropout, "dropout", "--dropout",
                [](const Problem& problem) { return problem.dropout > 0; }},
    FeatureText{Feature::pages, "pages", "--page-size",
                [](const Problem& problem) { return problem.page_size > 0; }},
    FeatureText{Feature::deterministic, "a deterministic mode", "--deterministic",
                [](const Problem& problem) { return problem.deterministic; }, Pass::backward},
    FeatureText{Feature::heads_first, "tensors with heads before tokens", "--heads-first",
                [](const Problem& problem) { return problem.heads_first; }, Pass::both},
};

/// The kernel with the flags of its features in its description.
Kernel with_flags(Kernel kernel) {
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    const char* before = pass == Pass::forward ? "; forward also " : "; backward also ";
    for (const FeatureText& text : kFeatureTexts) {
      if ((text.pass == pass || text.pass == Pass::both) &&
          std::ranges::find(kernel.features, text.feature) != kernel.features.end()) {
        kernel.description += before + std::string(text.flag);
        before = " ";
      }
    }
  }
  return kernel;
}

Kernel of_build(Kernel kernel, std::string build) {
  kernel.source_build = std::move(build);
  return kernel;
}

constexpr int kRoundingsOfStandard = 2;  // scores and probabilities go through memory
constexpr int kRoundingsOfFlash = 3;     // of a gradient: O, P or dS, and the gradient itself
// Probabilities, dP, their product, dS, scaled dS and the gradient itself.
constexpr int kBackwardRoundingsOfStandard = 6;
constexpr const char* kBuildOfTriton =
    "CUDA programs that do what Triton's code generator of July 2023 emits, for sm_80 and sm_90 (CUDA 13.0), "
    "by "
    "machine code";
constexpr int kRoundingsOfTriton = 2;  // of scaled queries, and of O
// Of O, of scaled dO, of P or dS, of dQ of a key block or scaled queries, and of the gradient itself.
constexpr int kBackwardRoundingsOfTriton = 5;

// Passes of one stream share tensors, in one division into segments.
void require_same_segments(const std::string& kernel, const std::vector<trace::Trace>& passes) {
  const std::vector<trace::Tensor>& first = passes.front().tensors;
  for (const trace::Tensor& tensor : passes.back().tensors) {
    const auto same = std::ranges::find(first, tensor.name, &trace::Tensor::name);
    if (same != first.end() && same->segments != tensor.segments) {
      throw UnsupportedProblem("kernel " + kernel + " takes the heads of " + tensor.name +
                               " together in its forward pass only, which is not modelled in one stream "
                               "with the backward pass; legal are fwd and bwd apart");
    }
  }
}

KernelPlan fa1(const Problem& problem, const GpuLimits& limits) {
  return plan_fa1(problem, limits);
}

KernelPlan fa2(const Problem& problem, const GpuLimits& limits) {
  return plan_fa2(problem, limits);
}

KernelPlan fa2_torch(const Problem& problem, const GpuLimits& limits) {
  return plan_fa2_torch(problem, limits);
}

}  // namespace

bool Kernel::has(Pass pass) const {
  const auto listed = [this](Pass one) { return std::ranges::find(passes, one) != passes.end(); };
  return pass == Pass::both ? listed(Pass::forward) && listed(Pass::backward) : listed(pass);
}

void Kernel::require_features(const Problem& problem) const {
  const auto lacks = [](const Kernel& kernel, Feature feature) {
    return std::ranges::find(kernel.features, feature) == kernel.features.end();
  };
  for (const FeatureText& text : kFeatureTexts) {
    if (!text.asked(problem) || !lacks(*this, text.feature)) {
      continue;
    }
    std::string others;
    for (const Kernel& kernel : all_kernels()) {
      if (!lacks(kernel, text.feature)) {
        others += others.empty() ? "" : ", ";
        others += kernel.name;
      }
    }
    throw UnsupportedProblem("kernel " + name + " does not have " + text.name +
                             "; kernels that do: " + others);
  }
}

std::string Kernel::legal_passes() const {
  std::string legal;
  for (const Pass pass : {Pass::forward, Pass::backward, Pass::both}) {
    if (has(pass)) {
      legal += legal.empty() ? "" : ", ";
      legal += text(pass);
    }
  }
  return legal;
}

std::vector<trace::Trace> Kernel::build_passes(const Problem& problem, const GpuLimits& limits) const {
  if (problem.type != type) {
    throw std::invalid_argument("kernel " + name + " got a problem of another type than it takes");
  }
  if (!has(problem.pass)) {
    throw UnsupportedProblem("kernel " + name + " does not have pass " + text(problem.pass) + "; it has " +
                             legal_passes());
  }
  require_features(problem);
  std::vector<trace::Trace> traces;
  try {
    for (const Problem& one : problem_by_pass(problem)) {
      traces.push_back(lower(plan(one, limits), compiler_target(limits)));
    }
  } catch (const std::logic_error& error) {
    throw std::logic_error("kernel " + name + ": " + error.what());
  }
  require_same_segments(name, traces);
  return traces;
}

trace::Trace Kernel::build(const Problem& problem, const GpuLimits& limits) const {
  return trace::in_one_stream(build_passes(problem, limits));
}

const char* text(Pass pass) {
  constexpr std::array kNames = {"fwd", "bwd", "fwd+bwd"};
  return kNames[static_cast<std::size_t>(pass)];
}

std::vector<Problem> problem_by_pass(const Problem& problem) {
  if (problem.pass != Pass::both) {
    return {problem};
  }
  std::vector<Problem> result = {problem, problem};
  result[0].pass = Pass::forward;
  result[0].deterministic = false;
  result[1].pass = Pass::backward;
  return result;
}

std::span<const Kernel> all_kernels() {
  static const std::vector<Pass> kBothPasses = {Pass::forward, Pass::backward};
  static const std::vector<Feature> kFeaturesOfFa2 = {
      Feature::splits,  Feature::window,        Feature::softcap,     Feature::alibi, Feature::lengths,
      Feature::dropout, Feature::deterministic, Feature::heads_first, Feature::pages};
  static const std::vector<Feature> kFeaturesOfTorch(kFeaturesOfFa2.begin(), kFeaturesOfFa2.end() - 1);
  static const std::vector<Feature> kFeaturesOfKvCache = {Feature::splits, Feature::pages};
  static const std::array kKernels = {
      of_build(
          Kernel{"fa1",
                 "FlashAttention-1 v1.0.9: O in HBM between key blocks, warps split over keys",
                 &fa1,
                 ProblemType::attention,
                 {},
                 1,
                 kBothPasses},
          "v1.0.9 for sm_90 (CUDA 13), by hardware counters; where it loads and waits by machine code, for "
          "sm_80 of CUDA 11.8"),
      of_build(
          with_flags(Kernel{"fa2",
                            "FlashAttention-2, built as its repository does",
                            &fa2,
                            ProblemType::attention,
                            {},
                            1,
                            kBothPasses,
                            kRoundingsOfFlash,
                            kFeaturesOfFa2}),
          "Dao-AILab/flash-attention 0251105a for sm_80 and sm_90 (CUDA 13.0, --use_fast_math), by machine "
          "code; backward ends and causal steps by hardware counters"),
      of_build(with_flags(Kernel{
                   "fa2_kvcache",
                   "FlashAttention-2's flash_attn_with_kvcache: its split-KV kernel, whatever the splits",
                   &plan_fa2_kvcache,
                   ProblemType::attention,
                   {},
                   1,
                   {Pass::forward},
                   kRoundingsOfFlash,
                   kFeaturesOfKvCache}),
               "Dao-AILab/flash-attention 0251105a for sm_90 (CUDA 13.0, --use_fast_math), by executions of "
               "each line "
               "of machine code"),
      of_build(with_flags(Kernel{"fa2_torch",
                                 "FlashAttention-2 inside PyTorch: unfused, slow exponential",
                                 &fa2_torch,
                                 ProblemType::attention,
                                 {},
                                 1,
                                 kBothPasses,
                                 kRoundingsOfFlash,
                                 kFeaturesOfTorch}),
               "PyTorch 2.11 for sm_90 (CUDA 13.0), by executions of each line of machine code; backward at "
               "64 and 128 by hardware counters"),
      of_build(
          Kernel{
              "standard",
              "PyTorch function of the FlashAttention-2 benchmark: scores in HBM; GEMMs on wgmma on Hopper",
              &plan_standard,
              ProblemType::attention,
              {},
              kRoundingsOfStandard,
              kBothPasses,
              kBackwardRoundingsOfStandard},
          "PyTorch 2.11 for sm_90 (CUDA 13.0), by hardware counters and machine code; GEMMs after tiles that "
          "cuBLAS names"),
      of_build(
          Kernel{"standard_eager",
                 "matmul, scale, masked_fill, softmax, matmul in PyTorch 2.11; GEMMs on wgmma on Hopper",
                 &plan_standard_eager,
                 ProblemType::attention,
                 {},
                 kRoundingsOfStandard,
                 kBothPasses,
                 kBackwardRoundingsOfStandard},
          "PyTorch 2.11 for sm_90 (CUDA 13.0), by hardware counters and machine code; GEMMs after tiles that "
          "cuBLAS names"),
      of_build(
          Kernel{"xformers",
                 "CUTLASS memory-efficient attention: P through shared memory, Q read again for all keys",
                 &plan_xformers,
                 ProblemType::attention,
                 {},
                 1,
                 kBothPasses},
          "PyTorch 2.11 for sm_90 and, forward, sm_80 (CUDA 13.0), by executions of each line of machine "
          "code at 2048 tokens"),
      of_build(Kernel{"triton",
                      "triton.ops.flash_attention of July 2023, as FlashAttention-2's benchmark ran it",
                      &plan_triton,
                      ProblemType::attention,
                      {},
                      kRoundingsOfTriton,
                      kBothPasses,
                      kBackwardRoundingsOfTriton},
               kBuildOfTriton),
      of_build(
          Kernel{"triton_seqpar",
                 "the same, asked for sequence_parallel: dQ of every key block in HBM, summed afterwards",
                 &plan_triton_sequence_parallel,
                 ProblemType::attention,
                 {},
                 kRoundingsOfTriton,
                 kBothPasses,
                 kBackwardRoundingsOfTriton},
          kBuildOfTriton),
      of_build(
          Kernel{"gemm",
                 "one launch of the matrix product that standard attention uses: --rows, --cols, --depth",
                 &plan_gemm, ProblemType::gemm, &gemm_reference},
          "cuBLAS 13: tiles that its kernels name; of mma.sync ends by hardware counters on an H200"),
      Kernel{"row_softmax", "softmax over rows, the example of kernels/README.md: --rows, --cols",
             &plan_row_softmax, ProblemType::rows, &row_softmax_reference},
  };
  return kKernels;
}

Kernel find_kernel(std::string_view name) {
  std::string legal;
  for (const Kernel& kernel : all_kernels()) {
    if (kernel.name == name) {
      return kernel;
    }
    legal += legal.empty() ? "" : ", ";
    legal += kernel.name;
  }
  if (name.find_first_of("+-") != std::string_view::npos) {
    return variants::find_variant(name);
  }
  throw std::invalid_argument("legal are " + legal + " and variants like fa1+split_q");
}

}  // namespace warpscope::kernels
