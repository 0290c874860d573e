#include "kernels/fa2/backward.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "kernels/device_memory.hpp"
#include "kernels/fa2/backward_ends.hpp"
#include "kernels/fa2/backward_figures.hpp"
#include "kernels/fa2/backward_program.hpp"
#include "kernels/fa2/key_walk.hpp"
#include "kernels/fa2/line_heads.hpp"
#include "kernels/standard/elementwise.hpp"
#include "kernels/token_layout.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa2 {
namespace {

using trace::TensorKind;

/// Warps in a column along the keys, each with all queries.
BackwardTile without_grid(BackwardTile tile) {
  constexpr int kKeysOfMma = 16;
  if (tile.keys < BackwardTile::kWarps * kKeysOfMma) {
    throw UnsupportedProblem(
        "without warp_grid each of the 8 warps needs 16 keys of its own; fa2's tile at "
        "head_dim " +
        std::to_string(tile.head_dim) + " has " + std::to_string(tile.keys) + " on this GPU");
  }
  tile.score_warps = 1;
  tile.key_warps = BackwardTile::kWarps;
  return tile;
}

BackwardShape shape_of(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options) {
  BackwardShape shape{problem, backward_tile(problem, limits), true, options};
  if (!options.warp_grid) {
    shape.tile = without_grid(shape.tile);
  }
  // Above 128 the launch code compiles the even case out to save code size.
  shape.even = problem.seqlen_q % shape.tile.rows == 0 && problem.seqlen_k % shape.tile.keys == 0 &&
               problem.head_dim == shape.tile.head_dim && shape.tile.head_dim <= 128;
  if (problem.deterministic) {
    shape.splits = grad_q_splits(problem, limits.sm_count);
  }
  return shape;
}

std::vector<TensorSpec> tensors_of(const BackwardShape& shape) {
  const Problem& problem = shape.problem;
  const ElementType type = shape.type();
  const std::int64_t queries = shape.query_segments();
  const std::int64_t keys = problem.batch * problem.heads_kv;
  const std::int64_t lines_q = heads_per_line(problem.heads, problem, type);
  const std::int64_t lines_k = heads_per_line(problem.heads_kv, problem, type);
  constexpr std::int64_t kRound = 128;  // lengths of what the passes keep for themselves
  const std::int64_t rounded = (problem.seqlen_q + kRound - 1) / kRound * kRound;
  std::vector<TensorSpec> tensors = {
      {"Q", TensorKind::input, queries, problem.seqlen_q, problem.head_dim, type, lines_q},
      {"K", TensorKind::input, keys, problem.seqlen_k, problem.head_dim, type, lines_k},
      {"V", TensorKind::input, keys, problem.seqlen_k, problem.head_dim, type, lines_k},
      {"O", TensorKind::input, queries, problem.seqlen_q, problem.head_dim, type},
      {"dO", TensorKind::input, queries, problem.seqlen_q, problem.head_dim, type, lines_q},
      {"LSE", TensorKind::input, queries, problem.seqlen_q, 1, ElementType::fp32},
      {"dO_O", TensorKind::scratch, queries, rounded, 1, ElementType::fp32},
      {"dQ_sum", TensorKind::scratch, queries * std::max<std::int64_t>(shape.splits, 1), rounded,
       shape.tile.head_dim, ElementType::fp32},
      {"dQ", TensorKind::output, queries, problem.seqlen_q, problem.head_dim, type, lines_q},
      {"dK", TensorKind::output, keys, problem.seqlen_k, problem.head_dim, type, lines_k},
      {"dV", TensorKind::output, keys, problem.seqlen_k, problem.head_dim, type, lines_k}};
  if (shape.heads_per_key_head() > 1) {
    for (const char* name : {"dK_heads", "dV_heads"}) {
      tensors.push_back({name, TensorKind::scratch, queries, problem.seqlen_k, problem.head_dim, type});
    }
  }
  interleave_heads(tensors, problem);
  return tensors;
}

/// What torch::zeros runs for the sums.
LaunchPlan zeros_launch(const TensorSpec& sums) {
  return standard::fill_launch({.name = "zeros_for_dq",
                                .source = kGradQSum,
                                .target = kGradQSum,
                                .segments = sums.segments,
                                .rows = sums.rows,
                                .cols = sums.cols},
                               0.0F);
}

LaunchPlan main_launch(const BackwardShape& shape, const GpuLimits& limits, Build build) {
  const BackwardTile& tile = shape.tile;
  LaunchPlan launch;
  launch.name = "flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<" + std::to_string(tile.head_dim) + ", " +
                std::to_string(tile.rows) + ", " + std::to_string(tile.keys) +
                (shape.problem.causal ? ", causal" : "") + (shape.splits > 0 ? ", deterministic>" : ">");
  launch.warps = BackwardTile::kWarps;
  launch.registers_per_thread = BackwardTile::kRegisters;
  launch.shared_bytes_per_cta = tile.shared_bytes();
  launch.build = backward_figures(build, shape, limits.compute_capability_major);
  launch.programs.push_back({"gradients", [shape](CtaMachine& m) { backward_program(m, shape); }});
  if (shape.splits > 0) {
    add_walk_grid(launch, shape);
  } else {
    add_backward_grid(launch, shape);
  }
  return launch;
}

}  // namespace

KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits, Build build,
                         const AttentionOptions& options) {
  const BackwardShape shape = shape_of(problem, limits, options);
  KernelPlan plan;
  plan.tensors = tensors_of(shape);
  require_memory(plan.tensors, limits);
  if (shape.splits > 0) {
    plan.launches.push_back(zeros_launch(plan.tensors[kGradQSum]));
  }
  plan.launches.push_back(row_products_launch(shape, build));
  plan.launches.back().build = row_products_figures(build, shape);
  plan.launches.push_back(main_launch(shape, limits, build));
  plan.launches.push_back(convert_grad_q_launch(shape, build));
  plan.launches.back().build = convert_figures(build, shape);
  if (shape.heads_per_key_head() > 1) {
    plan.launches.push_back(sum_heads_launch(shape, kHeadGradK, kGradK));
    plan.launches.push_back(sum_heads_launch(shape, kHeadGradV, kGradV));
  }
  return plan;
}

}  // namespace warpscope::kernels::fa2
