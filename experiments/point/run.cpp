#include "experiments/point/run.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "model/hw/config_loader.hpp"
#include "model/trace/statistics.hpp"
#include "model/trace/stream.hpp"
#include "model/trace/text_reader.hpp"

namespace warpscope::experiments {
namespace {

std::vector<CompulsoryBytes> compulsory_bytes(const std::vector<trace::Trace>& passes) {
  std::vector<CompulsoryBytes> result;
  for (const trace::Trace& trace : passes) {
    for (const trace::Tensor& tensor : trace.tensors) {
      auto found = std::ranges::find(result, tensor.name, &CompulsoryBytes::tensor);
      if (found == result.end()) {
        found = result.insert(found, {tensor.name, 0, 0});
      }
      const auto bytes =
          static_cast<std::uint64_t>(tensor.segments * tensor.segment_bytes - tensor.absent_bytes);
      found->read += tensor.kind == trace::TensorKind::input ? bytes : 0;
      found->write += tensor.kind == trace::TensorKind::output ? bytes : 0;
    }
  }
  return result;
}

kernels::PipeTimings pipes_of(const hw::Sm& sm) {
  return {.hmma_16816_interval = sm.tensor.hmma_16816.interval_cycles,
          .hmma_1688_interval = sm.tensor.hmma_1688.interval_cycles,
          .hmma_latency = sm.tensor.hmma_16816.latency_cycles,
          .fma_latency = sm.fma.latency_cycles,
          .imad_latency = sm.imad.latency_cycles,
          .alu_latency = sm.alu.latency_cycles,
          .xu_latency = sm.xu.latency_cycles,
          .uniform_latency = sm.issue.uniform_latency_cycles,
          .shared_latency = sm.shared.base_latency_cycles,
          .shuffle_latency = sm.shuffle.latency_cycles};
}

/// A trace for each pass.
Run run_traces(const ModelChoice& model, const hw::HwConfig& config, std::vector<trace::Trace> passes,
               bool counts_flops, gpu::LaunchMemo& memo) {
  Run run;
  run.gpu = model.gpu;
  run.overrides = model.overrides;
  run.config = config;
  run.options = model.options;
  run.compulsory = compulsory_bytes(passes);
  const trace::Trace trace = trace::in_one_stream(std::move(passes));
  if (counts_flops) {
    run.flops = static_cast<double>(trace::flops(trace::executed_instructions(trace)));
  }
  run.result = gpu::simulate(config, trace, model.options, memo);
  return run;
}

}  // namespace

kernels::GpuLimits limits_of(const hw::HwConfig& config) {
  kernels::GpuLimits limits;
  const std::string& capability = config.gpu.compute_capability;
  const char* end = capability.data() + capability.size();
  const auto major = std::from_chars(capability.data(), end, limits.compute_capability_major);
  limits.compute_capability_minor = 0;
  if (major.ptr != end) {
    std::from_chars(major.ptr + 1, end, limits.compute_capability_minor);
  }
  limits.sm_count = config.gpu.sm_count;
  limits.shared_bytes_per_sm = config.sm.shared.bytes;
  limits.shared_bytes_per_cta = config.sm.shared.bytes_per_cta;
  limits.memory_bytes = config.gpu.memory_bytes;
  limits.pipes = pipes_of(config.sm);
  return limits;
}

Run run_point(const Point& point) {
  gpu::LaunchMemo memo;
  return run_point(point, hw::load(point.model.gpu, point.model.overrides, config_directory()).config, memo);
}

Run run_point(const Point& point, const hw::HwConfig& config, gpu::LaunchMemo& memo) {
  const bool is_attention = point.problem.type == kernels::ProblemType::attention;
  Run run = run_traces(point.model, config,
                       kernels::find_kernel(point.kernel).build_passes(point.problem, limits_of(config)),
                       !is_attention, memo);
  run.point = point;
  run.flops = is_attention ? credited_flops(point.problem) : run.flops;
  return run;
}

Run run_trace_file(const ModelChoice& model, const std::string& file) {
  const hw::HwConfig config = hw::load(model.gpu, model.overrides, config_directory()).config;
  gpu::LaunchMemo memo;
  Run run = run_traces(model, config, {trace::read_text_file(file)}, false, memo);
  run.trace_file = file;
  return run;
}

namespace {

/// Share of the scores that a window lets be seen.
double share_in_window(const kernels::Problem& problem) {
  double seen = 0;
  for (std::int64_t row = 0; row < problem.seqlen_q; ++row) {
    const std::int64_t own = row + problem.seqlen_k - problem.seqlen_q;
    const std::int64_t right = problem.causal ? 0 : problem.window.right;
    const std::int64_t first =
        problem.window.left < 0 ? 0 : std::max<std::int64_t>(0, own - problem.window.left);
    const std::int64_t last =
        right < 0 ? problem.seqlen_k - 1 : std::min<std::int64_t>(problem.seqlen_k - 1, own + right);
    seen += static_cast<double>(std::max<std::int64_t>(0, last - first + 1));
  }
  return seen / static_cast<double>(problem.seqlen_q) / static_cast<double>(problem.seqlen_k);
}

}  // namespace

double credited_flops(const kernels::Problem& problem) {
  if (!problem.seqlens.empty()) {
    double flops = 0;
    for (const std::int64_t length : problem.seqlens) {
      kernels::Problem one = problem;
      one.batch = 1;
      one.seqlens.clear();
      one.seqlen_q = one.seqlen_k = length;
      flops += credited_flops(one);
    }
    return flops;
  }
  const auto product = [](auto... factors) { return (1.0 * ... * static_cast<double>(factors)); };
  constexpr std::array kByPass = {1.0, 2.5, 3.5};
  return product(4, problem.batch, problem.heads, problem.seqlen_q, problem.seqlen_k, problem.head_dim) *
         kByPass[static_cast<std::size_t>(problem.pass)] *
         (problem.window.is_given() ? share_in_window(problem)
          : problem.causal          ? 0.5
                                    : 1.0);
}

double tflops(const Run& run) {
  constexpr double kMicrosecondsAndTera = 1e6;
  return run.result.time_us > 0 ? run.flops / run.result.time_us / kMicrosecondsAndTera : 0;
}

double sm_clock_mhz(const metrics::SimulationResult& result) {
  if (result.launches.empty()) {
    return 0;
  }
  double microseconds = 0;
  bool uniform = true;
  for (const metrics::LaunchResult& launch : result.launches) {
    microseconds += launch.time_us;
    uniform = uniform && launch.sm_clock_mhz == result.launches.front().sm_clock_mhz;
  }
  return uniform || microseconds <= 0 ? result.launches.front().sm_clock_mhz
                                      : static_cast<double>(result.cycles) / microseconds;
}

}  // namespace warpscope::experiments
