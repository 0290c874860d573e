#include "kernels/fa2/split_forward.hpp"

#include <memory>
#include <string>
#include <utility>

#include "kernels/device_memory.hpp"
#include "kernels/fa2/combine.hpp"
#include "kernels/fa2/forward_walk.hpp"
#include "kernels/fa2/key_splits.hpp"
#include "kernels/fa2/line_heads.hpp"
#include "kernels/fa2/paged_keys.hpp"
#include "kernels/fa2/split_figures.hpp"
#include "kernels/fa2/split_tiles.hpp"
#include "kernels/token_layout.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels::fa2 {
namespace {

ForwardShape shape_of(const Problem& problem, std::int64_t splits, const GpuLimits& limits) {
  ForwardShape shape;
  shape.problem = problem;
  shape.splits = splits;
  shape.tile = split_tile(problem, splits, limits);
  const ForwardTile& tile = shape.tile;
  // Above 128 the launch code compiles the even case out to save code size.
  shape.even = problem.seqlen_k % tile.keys == 0 && problem.seqlen_q % tile.rows == 0 &&
               problem.head_dim == tile.head_dim && tile.head_dim <= 128;
  if (problem.causal) {
    shape.masking_steps = (tile.rows + tile.keys - 1) / tile.keys + (shape.even ? 0 : 1);
  }
  return shape;
}

/// The combining kernel takes the queries of all batches and heads for rows of one matrix.
void add_parts(std::vector<TensorSpec>& tensors, const ForwardShape& shape) {
  const Problem& problem = shape.problem;
  const std::int64_t rows = problem.batch * problem.heads * problem.seqlen_q;
  for (const int tensor : {kO, kLse}) {
    TensorSpec& spec = tensors[static_cast<std::size_t>(tensor)];
    spec.segments = 1;
    spec.rows = rows;
    spec.interleaved_segments = spec.line_segments = 1;
  }
  tensors.push_back(
      {"O_parts", trace::TensorKind::scratch, shape.splits, rows, problem.head_dim, ElementType::fp32});
  tensors.push_back({"LSE_parts", trace::TensorKind::scratch, 1, shape.splits, rows, ElementType::fp32});
}

void add_programs(LaunchPlan& launch, const std::shared_ptr<const ForwardShape>& shape) {
  const auto add = [&](const std::string& suffix, int rows) {
    launch.programs.push_back({"attend" + suffix, [=](CtaMachine& m) { forward_program(m, *shape, rows); }});
    launch.programs.push_back({"no_keys" + suffix, [=](CtaMachine& m) { empty_program(m, *shape, rows); }});
  };
  if (!shape->divides_keys()) {
    add("", 0);
    return;
  }
  add("", shape->tile.rows);
  add("_last", shape->last_rows());
}

}  // namespace

std::vector<TensorSpec> forward_tensors(const Problem& problem) {
  using trace::TensorKind;
  const ElementType type = problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16;
  const std::int64_t queries = problem.batch * problem.heads;
  const std::int64_t keys = problem.batch * problem.heads_kv;
  std::vector<TensorSpec> tensors = {
      {"Q", TensorKind::input, queries, problem.seqlen_q, problem.head_dim, type},
      {"K", TensorKind::input, keys, problem.seqlen_k, problem.head_dim, type},
      {"V", TensorKind::input, keys, problem.seqlen_k, problem.head_dim, type},
      {"O", TensorKind::output, queries, problem.seqlen_q, problem.head_dim, type},
      {"LSE", TensorKind::output, queries, problem.seqlen_q, 1, ElementType::fp32}};
  tensors[kQ].line_segments = tensors[kO].line_segments = heads_per_line(problem.heads, problem, type);
  tensors[kK].line_segments = tensors[kV].line_segments = heads_per_line(problem.heads_kv, problem, type);
  interleave_heads(tensors, problem);
  return tensors;
}

KernelPlan plan_split(const Problem& call, std::int64_t splits, const GpuLimits& limits, Build build) {
  if (splits > kMostSplits) {
    throw UnsupportedProblem("fa2 divides the keys into at most " + std::to_string(kMostSplits) +
                             " parts (num_splits), not " + std::to_string(splits));
  }
  const auto shape = std::make_shared<const ForwardShape>(shape_of(call, splits, limits));
  KernelPlan plan;
  plan.tensors = forward_tensors(call);
  if (shape->divides_keys()) {
    add_parts(plan.tensors, *shape);
  }
  if (call.page_size > 0) {
    check_pages(call);
    plan.tensors.push_back(page_table_spec(call));
  }
  require_memory(plan.tensors, limits);
  LaunchPlan launch;
  launch.name = "flash_fwd_splitkv_kernel<" + std::to_string(shape->tile.head_dim) + ", " +
                std::to_string(shape->tile.rows) + ", " + std::to_string(shape->tile.keys) + ", " +
                std::to_string(shape->tile.warps) + (call.causal ? ", causal" : "") +
                (call.page_size > 0 ? ", paged>" : ">");
  launch.warps = shape->tile.warps;
  launch.registers_per_thread = static_cast<std::uint32_t>(shape->tile.registers);
  launch.shared_bytes_per_cta = shape->tile.shared_bytes();
  launch.build = split_figures(build, shape->tile, call.causal, shape->divides_keys(), shape->even,
                               shape->problem.head_dim == shape->tile.head_dim);
  if (call.page_size > 0) {
    add_page_figures(launch.build);
  }
  add_programs(launch, shape);
  add_grid(launch, *shape);
  plan.launches.push_back(std::move(launch));
  if (shape->divides_keys()) {
    plan.launches.push_back(combine_launch(*shape, build));
  }
  return plan;
}

}  // namespace warpscope::kernels::fa2
