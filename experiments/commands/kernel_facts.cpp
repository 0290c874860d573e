#include "experiments/commands/kernel_facts.hpp"

#include <algorithm>
#include <array>

#include "experiments/point/point.hpp"
#include "kernels/kernel_survey.hpp"

namespace warpscope::experiments {
namespace {

using kernels::GpuLimits;
using kernels::Kernel;
using kernels::Pass;
using kernels::Problem;

/// A head dimension that all attention kernels take.
constexpr std::int64_t kUsualHeadDim = 64;

std::vector<std::string> masks(const Kernel& kernel, const GpuLimits& limits) {
  std::vector<std::string> result = {"none"};
  if (kernels::takes(kernel, kernels::survey_problem(kernel, Pass::forward, kUsualHeadDim, true), limits)) {
    result.emplace_back("causal");
  }
  const auto add = [&](kernels::Feature feature, const char* name) {
    if (std::ranges::find(kernel.features, feature) != kernel.features.end()) {
      result.emplace_back(name);
    }
  };
  add(kernels::Feature::window, "window (fwd)");
  add(kernels::Feature::alibi, "ALiBi (fwd)");
  return result;
}

std::vector<std::string> dtypes(const Kernel& kernel, const GpuLimits& limits) {
  std::vector<std::string> result;
  for (const kernels::DataType dtype : {kernels::DataType::fp16, kernels::DataType::bf16}) {
    Problem problem = kernels::survey_problem(kernel, Pass::forward, kUsualHeadDim);
    problem.dtype = dtype;
    if (kernels::takes(kernel, problem, limits)) {
      result.emplace_back(text(dtype));
    }
  }
  return result;
}

}  // namespace

std::optional<TableShare> KernelFacts::share(Pass pass, std::int64_t head_dim, bool causal) const {
  const auto found = std::ranges::find_if(shares, [&](const TableShare& one) {
    return one.pass == pass && one.head_dim == head_dim && one.causal == causal;
  });
  return found == shares.end() ? std::nullopt : std::optional(*found);
}

KernelFacts facts_of(const Kernel& kernel, const GpuLimits& limits, std::span<const std::int64_t> head_dims,
                     bool with_causal) {
  KernelFacts facts{kernel, {}, {}, {}, dtypes(kernel, limits), {}};
  if (facts.is_attention()) {
    facts.forward_head_dims = kernels::head_dims(kernel, Pass::forward, limits);
    facts.backward_head_dims = kernels::head_dims(kernel, Pass::backward, limits);
    facts.masks = masks(kernel, limits);
  }
  constexpr std::array<std::int64_t, 1> kNoHeadDim = {0};
  const bool has_head_dim = kernel.type != kernels::ProblemType::rows;
  for (const Pass pass : {Pass::forward, Pass::backward}) {
    for (const std::int64_t head_dim : has_head_dim ? head_dims : std::span<const std::int64_t>(kNoHeadDim)) {
      for (const bool causal : {false, true}) {
        if (causal && !(with_causal && facts.is_attention())) {
          continue;
        }
        const Problem problem = kernels::survey_problem(kernel, pass, head_dim, causal);
        if (const std::optional<double> share = kernels::table_share(kernel, problem, limits)) {
          facts.shares.push_back({pass, head_dim, causal, *share});
        }
      }
    }
  }
  return facts;
}

}  // namespace warpscope::experiments
