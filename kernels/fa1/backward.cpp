#include "kernels/fa1/backward.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "kernels/device_memory.hpp"
#include "kernels/fa1/backward_figures.hpp"
#include "kernels/fa1/backward_program.hpp"
#include "kernels/fa2/backward_ends.hpp"
#include "kernels/fa2/backward_figures.hpp"
#include "kernels/standard/elementwise.hpp"
#include "kernels/token_layout.hpp"

namespace warpscope::kernels::fa1 {
namespace {

using trace::TensorKind;

ElementType type_of(const Problem& problem) {
  return problem.dtype == DataType::fp16 ? ElementType::fp16 : ElementType::bf16;
}

std::vector<TensorSpec> tensors_of(const Problem& problem, const BackwardConfig& config) {
  const ElementType type = type_of(problem);
  const std::int64_t segments = problem.batch * problem.heads;
  const std::int64_t d = problem.head_dim;
  const std::int64_t padded_queries = std::int64_t{config.blocks.query_steps} * config.blocks.step_rows;
  std::vector<TensorSpec> tensors = {
      {"Q", TensorKind::input, segments, problem.seqlen_q, d, type},
      {"K", TensorKind::input, segments, problem.seqlen_k, d, type},
      {"V", TensorKind::input, segments, problem.seqlen_k, d, type},
      {"O", TensorKind::input, segments, problem.seqlen_q, d, type},
      {"dO", TensorKind::input, segments, problem.seqlen_q, d, type},
      {"LSE", TensorKind::input, segments, padded_queries, 1, ElementType::fp32},
      {"dO_O", TensorKind::scratch, segments, padded_queries, 1, ElementType::fp32},
      {"dQ", TensorKind::output, segments, problem.seqlen_q, d, type},
      {"dK", TensorKind::output, segments, problem.seqlen_k, d, type},
      {"dV", TensorKind::output, segments, problem.seqlen_k, d, type}};
  if (config.keeps_sums()) {
    tensors.push_back({"dQ_sum", TensorKind::scratch, segments, problem.seqlen_q, d, ElementType::fp32});
  }
  interleave_heads(tensors, problem);
  return tensors;
}

std::string with_traits(const char* name, const BackwardConfig& config, bool causal) {
  return std::string(name) + "<" + std::to_string(config.blocks.block_keys) + ", " +
         std::to_string(config.blocks.head_dim) + (causal ? ", causal>" : ">");
}

/// fmha_bwd_dot_do_o_kernel: sum of dO * O for each query, 16 of them at a time.
LaunchPlan row_products_launch(const Problem& problem, const BackwardConfig& config) {
  constexpr std::uint32_t kRegisters = 26;  // counters.csv
  constexpr int kStepsSlot = 0;
  constexpr int kStepsPerCta = kDotRows / kDotStepRows;
  const int rows = kDotStepRows;
  const int d = config.blocks.head_dim;
  LaunchPlan launch;
  launch.name = with_traits("fmha_bwd_dot_do_o_kernel", config, false);
  const int steps = (static_cast<int>(problem.seqlen_q) + kDotStepRows - 1) / kDotStepRows;
  const int ctas = (steps + kStepsPerCta - 1) / kStepsPerCta;
  launch.grid = {static_cast<std::uint32_t>(problem.batch), static_cast<std::uint32_t>(problem.heads),
                 static_cast<std::uint32_t>(ctas)};
  launch.warps = kBackwardWarps;
  launch.registers_per_thread = kRegisters;
  launch.build = row_products_figures(d);
  const Affine segment = block_index(0) * problem.heads + block_index(1);
  launch.programs.push_back({"rows", [=, type = type_of(problem)](CtaMachine& m) {
                               m.part(kDotPrologue);
                               m.loop(kStepsSlot, [&](const Affine& iteration) {
                                 const Affine row = block_index(2) * kDotRows + iteration * rows;
                                 const Fragment grad_o = m.fragment(rows, d, type, Layout::linear, {});
                                 const Fragment o = m.fragment(rows, d, type, Layout::linear, {});
                                 m.part(kDotStep);
                                 m.load(grad_o, {kBackGradO, segment, row, 0, rows, d});
                                 m.load(o, {kBackO, segment, row, 0, rows, d});
                                 store_row_products(m, {kRowProducts, segment, row, 0, rows, 1}, grad_o, o);
                               });
                             }});
  const int last = steps - (ctas - 1) * kStepsPerCta;
  launch.classes = {{0, {static_cast<std::uint32_t>(kStepsPerCta)}, {}},
                    {0, {static_cast<std::uint32_t>(last)}, {}}};
  launch.class_of_block[2].assign(static_cast<std::size_t>(ctas), 0);
  launch.class_of_block[2].back() = 1;
  return launch;
}

/// Fills in grid and classes of the CTAs.
void add_grid(LaunchPlan& launch, const Problem& problem, const BackwardConfig& config,
              const Schedule& schedule) {
  const Config& blocks = config.blocks;
  launch.grid = {static_cast<std::uint32_t>(problem.batch), static_cast<std::uint32_t>(problem.heads), 1};
  if (!config.sequence_parallel) {
    launch.classes = schedule.classes;
    return;
  }
  launch.grid[2] = static_cast<std::uint32_t>(blocks.key_blocks);
  if (!problem.causal) {
    launch.classes.push_back({0, {static_cast<std::uint32_t>(blocks.query_steps)}, {}});
    return;
  }
  for (int n = 0; n < blocks.key_blocks; ++n) {
    const int skipped = n * blocks.block_keys / blocks.step_rows;  // queries before the first key
    launch.classes.push_back({0, {static_cast<std::uint32_t>(blocks.query_steps - skipped)}, {}});
    launch.class_of_block[2].push_back(static_cast<std::uint32_t>(n));
  }
}

LaunchPlan main_launch(const Problem& problem, const BackwardConfig& config, bool hopper) {
  LaunchPlan launch;
  launch.name = with_traits(
      config.sequence_parallel ? "fmha_bwd_q_dk_dv_loop_seqparallel_kernel" : "fmha_bwd_dq_dk_dv_loop_kernel",
      config, problem.causal);
  launch.warps = kBackwardWarps;
  launch.registers_per_thread = config.blocks.registers_per_thread;
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(config.shared_bytes);
  launch.build = backward_figures(config, problem.causal, hopper);
  const Schedule heads = config.sequence_parallel ? Schedule{} : schedule(config.blocks, problem.causal);
  launch.programs.push_back({"gradients", BackwardProgram(problem, config, heads)});
  add_grid(launch, problem, config, heads);
  return launch;
}

/// What PyTorch does with all of dQ.
standard::ElementwiseTask grad_q_task(const Problem& problem, const char* name, BackwardTensor source,
                                      BackwardTensor target) {
  return {.name = name,
          .source = source,
          .target = target,
          .segments = problem.batch * problem.heads,
          .rows = problem.seqlen_q,
          .cols = problem.head_dim,
          .type = type_of(problem)};
}

/// Sums of which each warp added its piece lie in memory as FlashAttention-2's do, whose kernel converts
/// them.
LaunchPlan conversion_launch(const Problem& problem, const BackwardConfig& config) {
  if (!config.blocks.options.split_q) {
    return standard::cast_launch(grad_q_task(problem, "copy_of_dq", kGradQSum, kGradQ));
  }
  fa2::BackwardShape shape{problem, {}, true};
  shape.tile.head_dim = config.blocks.head_dim;
  shape.tile.rows = config.blocks.step_rows;
  shape.tile.query_warps = config.grad_q_split().m;
  LaunchPlan launch = fa2::convert_grad_q_launch(shape, fa2::Build::upstream, kGradQSum, kGradQ);
  launch.build = fa2::convert_figures(fa2::Build::upstream, shape);
  return launch;
}

}  // namespace

KernelPlan plan_backward(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options) {
  const BackwardConfig config = configure_backward(problem, limits, options);
  KernelPlan plan;
  plan.tensors = tensors_of(problem, config);
  require_memory(plan.tensors, limits);
  const bool hopper = limits.compute_capability_major >= 9;
  if (!config.sequence_parallel) {
    plan.launches.push_back(main_launch(problem, config, hopper));
    return plan;
  }
  plan.launches.push_back(
      standard::fill_launch(grad_q_task(problem, "zeros_for_dq", kGradQSum, kGradQSum), 0.0F));
  plan.launches.push_back(row_products_launch(problem, config));
  plan.launches.push_back(main_launch(problem, config, hopper));
  plan.launches.push_back(conversion_launch(problem, config));
  return plan;
}

}  // namespace warpscope::kernels::fa1
