#include "kernels/fa2/fa2.hpp"

#include <algorithm>
#include <memory>
#include <string>

#include "kernels/fa2/forward_program.hpp"
#include "kernels/machine/device_memory.hpp"
#include "kernels/machine/lower.hpp"
#include "kernels/unsupported.hpp"

namespace warpscope::kernels {
namespace {

using fa2::ForwardShape;
using fa2::ForwardTile;

constexpr std::int64_t kMostGridY = 65535;

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

void refuse(const std::string& reason) {
  throw UnsupportedProblem("fa2 " + reason);
}

// What csrc/flash_attn/flash_api.cpp checks, and what is not modelled.
void check(const Problem& problem) {
  if (problem.pass != Pass::forward) {
    refuse("backward is not modelled yet");
  }
  if (std::min({problem.batch, problem.heads, problem.heads_kv, problem.seqlen_q, problem.seqlen_k}) < 1) {
    refuse("needs batch, heads, heads_kv and sequence lengths of at least 1");
  }
  if (problem.head_dim < 8 || problem.head_dim > 256 || problem.head_dim % 8 != 0) {
    refuse("supports head_dim from 8 to 256 in steps of 8, not " + std::to_string(problem.head_dim));
  }
  if (problem.heads % problem.heads_kv != 0) {
    refuse("needs heads (" + std::to_string(problem.heads) + ") to be a multiple of heads_kv (" +
           std::to_string(problem.heads_kv) + ")");
  }
  if (problem.batch > kMostGridY || problem.heads > kMostGridY) {
    refuse("launches a grid of (query blocks, batch, heads); batch and heads are at most 65535");
  }
}

ForwardShape shape_of(const Problem& problem, const GpuLimits& limits, fa2::Build build) {
  ForwardShape shape;
  shape.problem = problem;
  shape.tile = fa2::forward_tile(problem, limits);
  const ForwardTile& tile = shape.tile;
  // Above 128 the launch code compiles the even case out to save code size.
  shape.even = problem.seqlen_k % tile.keys == 0 && problem.seqlen_q % tile.rows == 0 &&
               problem.head_dim == tile.head_dim && tile.head_dim <= 128;
  if (problem.causal) {
    shape.masking_steps = static_cast<int>(divide_up(tile.rows, tile.keys)) + (shape.even ? 0 : 1);
  }
  shape.figures =
      fa2::build_figures(build, tile, problem.causal, shape.even, limits.compute_capability_major);
  return shape;
}

// Key blocks that query block `m` visits.
std::int64_t key_blocks(const ForwardShape& shape, std::int64_t m) {
  const Problem& problem = shape.problem;
  std::int64_t blocks = divide_up(problem.seqlen_k, shape.tile.keys);
  if (problem.causal) {
    const std::int64_t last_key = (m + 1) * shape.tile.rows + problem.seqlen_k - problem.seqlen_q;
    blocks = std::min(blocks, last_key > 0 ? divide_up(last_key, shape.tile.keys) : 0);
  }
  return blocks;
}

PlanClass class_of(const ForwardShape& shape, std::int64_t blocks) {
  if (blocks == 0) {
    return {1, {}, {}};
  }
  PlanClass result;
  result.symbols = {blocks - 1};
  result.trip_counts = {static_cast<std::uint32_t>(std::max<std::int64_t>(0, blocks - shape.masking_steps))};
  for (int step = 1; step <= shape.masking_steps; ++step) {
    result.trip_counts.push_back(blocks > step ? 1 : 0);
  }
  return result;
}

void add_classes(LaunchPlan& launch, const ForwardShape& shape) {
  std::vector<std::int64_t> blocks_of_class;
  for (std::int64_t m = 0; m < launch.grid[0]; ++m) {
    const std::int64_t blocks = key_blocks(shape, m);
    const auto found = std::ranges::find(blocks_of_class, blocks);
    launch.class_of_block[0].push_back(static_cast<std::uint32_t>(found - blocks_of_class.begin()));
    if (found == blocks_of_class.end()) {
      blocks_of_class.push_back(blocks);
      launch.classes.push_back(class_of(shape, blocks));
    }
  }
}

std::vector<TensorSpec> tensors_of(const Problem& problem) {
  using trace::TensorKind;
  const ElementType type = problem.dtype == DataType::bf16 ? ElementType::bf16 : ElementType::fp16;
  const std::int64_t queries = problem.batch * problem.heads;
  const std::int64_t keys = problem.batch * problem.heads_kv;
  return {{"Q", TensorKind::input, queries, problem.seqlen_q, problem.head_dim, type},
          {"K", TensorKind::input, keys, problem.seqlen_k, problem.head_dim, type},
          {"V", TensorKind::input, keys, problem.seqlen_k, problem.head_dim, type},
          {"O", TensorKind::output, queries, problem.seqlen_q, problem.head_dim, type},
          {"LSE", TensorKind::output, queries, problem.seqlen_q, 1, ElementType::fp32}};
}

KernelPlan plan_forward(const Problem& problem, const GpuLimits& limits, fa2::Build build) {
  check(problem);
  const auto shape = std::make_shared<const ForwardShape>(shape_of(problem, limits, build));
  KernelPlan plan;
  plan.tensors = tensors_of(problem);
  require_memory(plan.tensors, limits);
  LaunchPlan launch;
  launch.name = "flash_fwd_kernel<" + std::to_string(shape->tile.head_dim) + ", " +
                std::to_string(shape->tile.rows) + ", " + std::to_string(shape->tile.keys) + ", " +
                std::to_string(shape->tile.warps) + (problem.causal ? ", causal>" : ">");
  launch.grid = {static_cast<std::uint32_t>(divide_up(problem.seqlen_q, shape->tile.rows)),
                 static_cast<std::uint32_t>(problem.batch), static_cast<std::uint32_t>(problem.heads)};
  launch.warps = shape->tile.warps;
  launch.registers_per_thread = static_cast<std::uint32_t>(shape->tile.registers);
  launch.shared_bytes_per_cta = shape->tile.shared_bytes();
  launch.math = shape->figures.math;
  launch.estimate_moves = false;  // the figures of the build contain them
  launch.programs.push_back({"attend", [shape](CtaMachine& m) { fa2::forward_program(m, *shape); }});
  launch.programs.push_back({"no_keys", [shape](CtaMachine& m) { fa2::empty_program(m, *shape); }});
  add_classes(launch, *shape);
  plan.launches.push_back(std::move(launch));
  return plan;
}

}  // namespace

KernelPlan plan_fa2(const Problem& problem, const GpuLimits& limits) {
  return plan_forward(problem, limits, fa2::Build::upstream);
}

KernelPlan plan_fa2_torch(const Problem& problem, const GpuLimits& limits) {
  return plan_forward(problem, limits, fa2::Build::torch);
}

trace::Trace build_fa2(const Problem& problem, const GpuLimits& limits) {
  return lower(plan_fa2(problem, limits), compiler_target(limits));
}

trace::Trace build_fa2_torch(const Problem& problem, const GpuLimits& limits) {
  return lower(plan_fa2_torch(problem, limits), compiler_target(limits));
}

}  // namespace warpscope::kernels
