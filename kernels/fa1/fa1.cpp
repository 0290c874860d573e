#include "kernels/fa1/fa1.hpp"

#include <numeric>
#include <utility>
#include <vector>

#include "kernels/device_memory.hpp"
#include "kernels/fa1/backward.hpp"
#include "kernels/fa1/build_figures.hpp"
#include "kernels/fa1/config.hpp"
#include "kernels/fa1/program.hpp"
#include "kernels/fa1/schedule.hpp"
#include "kernels/token_layout.hpp"
#include "kernels/variants/key_outer_program.hpp"

namespace warpscope::kernels {

namespace {

std::vector<TensorSpec> tensors_of(const Problem& problem, const fa1::Config& config) {
  using trace::TensorKind;
  const ElementType type = problem.dtype == DataType::fp16 ? ElementType::fp16 : ElementType::bf16;
  const std::int64_t segments = problem.batch * problem.heads;
  const std::int64_t d = problem.head_dim;
  std::vector<TensorSpec> tensors{
      {"Q", TensorKind::input, segments, problem.seqlen_q, d, type},
      {"K", TensorKind::input, segments, problem.seqlen_k, d, type},
      {"V", TensorKind::input, segments, problem.seqlen_k, d, type},
      {"O", TensorKind::output, segments, problem.seqlen_q, d, type},
      // Padded to whole steps, as the library allocates it: its stores are not guarded.
      {"LSE", TensorKind::output, segments, std::int64_t{config.query_steps} * config.step_rows, 1,
       ElementType::fp32},
  };
  if (config.loops()) {
    tensors.push_back({"o_tmp", TensorKind::scratch, segments, problem.seqlen_q, d, ElementType::fp32});
  }
  if (config.keeps_sum()) {
    const bool is_output = !config.options.lse;
    tensors.push_back({"row_sum", is_output ? TensorKind::output : TensorKind::scratch, segments,
                       std::int64_t{config.query_steps} * config.step_rows, 1, ElementType::fp32});
    tensors[fa1::kLse].name = is_output ? "row_max" : "LSE";
  }
  interleave_heads(tensors, problem);
  return tensors;
}

}  // namespace

KernelPlan plan_fa1(const Problem& problem, const GpuLimits& limits, const AttentionOptions& options) {
  if (problem.pass == Pass::backward) {
    return fa1::plan_backward(problem, limits, options);
  }
  const fa1::Config config = fa1::configure(problem, limits, options);
  std::vector<TensorSpec> tensors = tensors_of(problem, config);
  require_memory(tensors, limits);
  const bool skips = problem.causal && options.skip_masked;
  LaunchPlan launch;
  launch.name = "fmha_fwd_loop_kernel";
  launch.grid = {static_cast<std::uint32_t>(problem.batch), static_cast<std::uint32_t>(problem.heads),
                 static_cast<std::uint32_t>(config.num_splits)};
  launch.warps = fa1::kWarps;
  launch.registers_per_thread = config.registers_per_thread;
  launch.shared_bytes_per_cta = static_cast<std::uint32_t>(config.shared_bytes);
  launch.build = fa1::build_figures(config, problem.causal, limits.compute_capability_major >= 9);
  fa1::Schedule schedule;
  if (config.chunk_steps > 0) {
    fa1::ChunkClasses chunks = fa1::chunk_classes(config, skips);
    launch.classes = std::move(chunks.classes);
    launch.class_of_block[2] = std::move(chunks.class_of_block);
  } else {
    schedule = fa1::schedule(config, skips);
    launch.classes = schedule.classes;
    launch.class_of_block[2].resize(static_cast<std::size_t>(config.num_splits));
    std::iota(launch.class_of_block[2].begin(), launch.class_of_block[2].end(), 0U);
  }
  if (options.split_q) {
    launch.programs.push_back({"forward", variants::KeyOuterProgram(problem, config, schedule)});
  } else {
    launch.programs.push_back({"forward", fa1::Program(problem, config, schedule)});
  }
  return {std::move(tensors), {std::move(launch)}};
}

}  // namespace warpscope::kernels
