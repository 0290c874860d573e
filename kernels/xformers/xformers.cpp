#include "kernels/xformers/xformers.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/device_memory.hpp"
#include "kernels/token_layout.hpp"
#include "kernels/unsupported.hpp"
#include "kernels/xformers/backward.hpp"
#include "kernels/xformers/build_figures.hpp"
#include "kernels/xformers/forward_program.hpp"
#include "kernels/xformers/forward_shape.hpp"

namespace warpscope::kernels {
namespace {

using xformers::ForwardShape;

constexpr std::int64_t kMostGridY = 65535;

[[noreturn]] void refuse(const std::string& reason) {
  throw UnsupportedProblem("xformers: " + reason);
}

void check(const Problem& problem) {
  if (std::min({problem.batch, problem.heads, problem.heads_kv, problem.seqlen_q, problem.seqlen_k}) < 1) {
    refuse("batch, heads, heads_kv and sequence lengths must be at least 1");
  }
  if (problem.head_dim < 8 || problem.head_dim % 8 != 0) {
    refuse("the kernels for aligned rows need a head_dim that is a multiple of 8, got " +
           std::to_string(problem.head_dim));
  }
  if (problem.heads_kv != problem.heads) {
    refuse("there is no GQA, heads_kv must equal heads (" + std::to_string(problem.heads) + "), got " +
           std::to_string(problem.heads_kv));
  }
  if (problem.causal && problem.seqlen_q != problem.seqlen_k) {
    refuse("LowerTriangularMask is aligned to the top left, so causal needs seqlen_q = seqlen_k, got " +
           std::to_string(problem.seqlen_q) + " and " + std::to_string(problem.seqlen_k));
  }
  if (problem.batch > kMostGridY || problem.heads > kMostGridY) {
    refuse("the grid is (query blocks, heads, batch); heads and batch are at most 65535");
  }
}

std::vector<TensorSpec> tensors_of(const ForwardShape& shape) {
  using trace::TensorKind;
  const Problem& problem = shape.problem;
  const std::int64_t segments = problem.batch * problem.heads;
  constexpr std::int64_t kRowsOfBackward = 32;  // kAlignLSE: the sums are padded to blocks of that pass
  const std::int64_t lse_rows = (problem.seqlen_q + kRowsOfBackward - 1) / kRowsOfBackward * kRowsOfBackward;
  std::vector<TensorSpec> tensors = {
      {"Q", TensorKind::input, segments, problem.seqlen_q, problem.head_dim, shape.type},
      {"K", TensorKind::input, segments, problem.seqlen_k, problem.head_dim, shape.type},
      {"V", TensorKind::input, segments, problem.seqlen_k, problem.head_dim, shape.type},
      {"O", TensorKind::output, segments, problem.seqlen_q, problem.head_dim, shape.type},
      {"LSE", TensorKind::output, segments, lse_rows, 1, ElementType::fp32}};
  if (!shape.tile.keeps_output()) {
    tensors.push_back(
        {"O_accum", TensorKind::scratch, segments, problem.seqlen_q, problem.head_dim, ElementType::fp32});
  }
  interleave_heads(tensors, problem);
  return tensors;
}

}  // namespace

KernelPlan plan_xformers(const Problem& problem, const GpuLimits& limits) {
  check(problem);
  if (problem.pass == Pass::backward) {
    return xformers::plan_backward(problem, limits);
  }
  const auto shape = std::make_shared<const ForwardShape>(problem, xformers::forward_tile(problem));
  KernelPlan plan;
  plan.tensors = tensors_of(*shape);
  require_memory(plan.tensors, limits);
  LaunchPlan launch;
  launch.name = "fmha_cutlassF_" + std::string(problem.dtype == DataType::bf16 ? "bf16" : "f16") +
                "_aligned_" + std::to_string(shape->tile.queries) + "x" + std::to_string(shape->tile.keys) +
                (shape->tile.keeps_output() ? "_rf_sm80" : "_gmem_sm80");
  launch.warps = shape->tile.warps();
  launch.registers_per_thread = shape->tile.registers;
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(shape->layout.bytes);
  launch.build = xformers::build_figures(shape->tile, limits.compute_capability_major);
  launch.programs.push_back({"attend", [shape](CtaMachine& m) { xformers::forward_program(m, *shape); }});
  add_grid(launch, *shape);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace warpscope::kernels
