// The bars of paper-figures: what the model has of each, and what was measured.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "experiments/base/printable.hpp"
#include "experiments/base/usage_error.hpp"
#include "experiments/data/measured_times.hpp"
#include "experiments/study/forward_grid.hpp"
#include "experiments/study/paper_figures.hpp"
#include "kernels/device_memory.hpp"
#include "kernels/machine/plan.hpp"
#include "kernels/unsupported.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::experiments {
namespace {

using kernels::Pass;

/// Lengths of launches on a H200 whose instruction counts went into the build figures of a kernel; no time,
/// byte count or published bar did.
struct InSample {
  std::string_view kernel;
  Pass pass;
  std::array<int, 4> seqlens;
};
constexpr std::array kInSample = {
    InSample{"standard", Pass::forward, {2048}},
    InSample{"standard", Pass::backward, {512, 1024, 4096, 16384}},
    InSample{"fa1", Pass::forward, {512, 8192}},
    InSample{"fa1", Pass::backward, {512, 8192}},
    InSample{"fa2", Pass::backward, {512, 8192}},
    InSample{"xformers", Pass::forward, {2048}},
    InSample{"xformers", Pass::backward, {2048}},
};

bool is_in_sample(const Point& point) {
  return std::ranges::any_of(kInSample, [&](const InSample& sample) {
    return sample.kernel == point.kernel && sample.pass == point.problem.pass &&
           std::ranges::find(sample.seqlens, point.problem.seqlen_q) != sample.seqlens.end();
  });
}

const kernels::Kernel* find_modelled(std::string_view name, Pass pass) {
  const auto kernels = kernels::all_kernels();
  const auto found = std::ranges::find(kernels, name, &kernels::Kernel::name);
  return found != kernels.end() && found->has(pass) ? &*found : nullptr;
}

double tflops_of(const kernels::Problem& problem, double time_us) {
  constexpr double kMicrosecondsAndTera = 1e6;
  return credited_flops(problem) / time_us / kMicrosecondsAndTera;
}

/// 0 for what the kernel refuses: its simulation says why.
std::int64_t live_bytes_of(const kernels::Kernel& kernel, const kernels::Problem& pass,
                           const kernels::GpuLimits& limits) {
  try {
    return kernels::live_bytes(kernel.plan(pass, limits));
  } catch (const kernels::UnsupportedProblem&) {
    return 0;
  }
}

void add_model(PaperBar& bar) {
  const kernels::Kernel* kernel = find_modelled(bar.method->kernel, bar.published.pass);
  if (kernel == nullptr) {
    return;
  }
  const hw::HwConfig config = hw::load(bar.published.gpu, {}, config_directory()).config;
  bar.memory_bytes = config.gpu.memory_bytes;
  kernels::GpuLimits limits = limits_of(config);
  limits.memory_bytes = 0;  // unknown, so that what does not fit is counted too
  for (const kernels::Problem& pass : kernels::problem_by_pass(bar.problem)) {
    bar.live_bytes = std::max(bar.live_bytes, live_bytes_of(*kernel, pass, limits));
    Point point;
    point.model.gpu = bar.published.gpu;
    point.kernel = bar.method->kernel;
    point.problem = pass;
    bar.is_in_sample = bar.is_in_sample || is_in_sample(point);
    bar.passes.push_back(point);
    if (pass.pass == Pass::backward && !bar.method->backward_alternative.empty()) {
      point.kernel = bar.method->backward_alternative;
      bar.passes.push_back(std::move(point));
    }
  }
}

}  // namespace

std::span<const PaperFigure> paper_figures() {
  static constexpr std::array kFigures = {
      PaperFigure{4, "A100 SXM4 80 GB", "forward and backward", false},
      PaperFigure{5, "A100 SXM4 80 GB", "forward", false},
      PaperFigure{6, "A100 SXM4 80 GB", "backward", false},
      PaperFigure{7, "H100 SXM5 80 GB", "forward and backward", true},
  };
  return kFigures;
}

std::span<const PaperMethod> paper_methods() {
  static constexpr std::array kMethodTable = {
      PaperMethod{"pytorch", "PyTorch", "standard", "", "standard", "#7d8597", "#dfe2e8"},
      PaperMethod{"fa1", "FA1", "fa1", "", "fa1", "#e8893a", "#fbe0c8"},
      PaperMethod{"xformers", "xformers", "xformers", "", "xformers", "#4f9d69", "#d3ead9"},
      PaperMethod{"fa_triton", "Triton", "triton", "triton_seqpar", "", "#a05aa0", "#ead5ea"},
      PaperMethod{"fa2", "FA2", "fa2", "", "fa2", "#1f6fa8", "#cfe3f2"},
  };
  return kMethodTable;
}

const StudyResult* PaperBar::outcome_of(Pass pass) const {
  const StudyResult* fastest = nullptr;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (passes[i].problem.pass == pass && outcomes[i].done() &&
        (fastest == nullptr || outcomes[i].result.time_us < fastest->result.time_us)) {
      fastest = &outcomes[i];
    }
  }
  return fastest;
}

std::string PaperBar::error() const {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i].done() && outcome_of(passes[i].problem.pass) == nullptr) {
      return outcomes[i].error;
    }
  }
  return "";
}

std::optional<double> PaperBar::time_us() const {
  if (outcomes.empty() || !error().empty()) {
    return std::nullopt;
  }
  double sum = 0;
  for (const kernels::Problem& pass : kernels::problem_by_pass(problem)) {
    sum += outcome_of(pass.pass)->result.time_us;
  }
  return sum;
}

std::optional<double> PaperBar::tflops() const {
  const std::optional<double> time = time_us();
  return time && *time > 0 ? std::optional(tflops_of(problem, *time)) : std::nullopt;
}

std::optional<double> PaperBar::relative_error() const {
  const std::optional<double> model = tflops();
  return model && published.tflops ? std::optional(*model / *published.tflops - 1) : std::nullopt;
}

std::vector<PaperBar> paper_bars(const std::filesystem::path& references) {
  const MeasuredTimes measured(references);
  std::vector<PaperBar> bars;
  for (const PublishedBar& published : published_bars(references)) {
    const auto method = std::ranges::find(paper_methods(), published.method, &PaperMethod::name);
    if (method == paper_methods().end()) {
      throw UsageError(fmt::format("published bars: method {} is unknown", in_quotes(published.method)));
    }
    PaperBar bar;
    bar.published = published;
    bar.method = &*method;
    bar.problem =
        grid_point(published.gpu, method->kernel, published.head_dim, published.causal, published.seqlen)
            .problem;
    bar.problem.pass = published.pass;
    if (const auto time = measured.time_us({std::string(method->measured), published.pass, published.head_dim,
                                            published.causal, published.seqlen})) {
      bar.measured_tflops = tflops_of(bar.problem, *time);
    }
    add_model(bar);
    bars.push_back(std::move(bar));
  }
  return bars;
}

std::string describe_shape(const PaperBar& bar) {
  return fmt::format("d {}{}, {} tokens", bar.published.head_dim, bar.published.causal ? " causal" : "",
                     bar.published.seqlen);
}

}  // namespace warpscope::experiments
