// The points of the ladder, and what they are compared with.
#include <algorithm>
#include <array>
#include <cmath>

#include "experiments/base/data_directory.hpp"
#include "experiments/point/run.hpp"
#include "experiments/study/ladder.hpp"
#include "experiments/whatif/ensemble.hpp"
#include "kernels/variants/changes.hpp"
#include "model/hw/config_loader.hpp"
#include "model/trace/text_writer.hpp"

namespace warpscope::experiments {
namespace {

using kernels::kFa1Options;
using kernels::kFa2Options;
using kernels::variants::all_changes;
using kernels::variants::Change;
using kernels::variants::ChangeOfPass;
using kernels::variants::changes_of;

// Spread is measured where the summary looks, on the two GPUs of the paper.
constexpr int kLadderPhases = 3;

bool is_summary_gpu(const GridGpu& gpu) {
  return std::ranges::any_of(summary_gpus(), [&](const GridGpu& one) { return &one == &gpu; });
}

bool needs_mask(const Change& change) {
  return change.name == "skip_masked" || change.name == "longest_first";
}

/// The cases of one problem.
class Builder {
 public:
  Builder(std::vector<LadderCase>& cases, const GridGpu& gpu, kernels::Pass pass, int head_dim, bool causal,
          int seqlen)
      : cases_(cases), gpu_(gpu), pass_(pass), head_dim_(head_dim), causal_(causal), seqlen_(seqlen) {}

  void add_ladder() {
    for (const LadderStep& step : ladder_steps(pass_)) {
      LadderCase& added = add(LadderSeries::ladder, step.variant, step.change, step.label);
      if (&added != first()) {
        added.base = cases_.size() - 2;
      }
      if (step.variant == "fa1") {
        fa1_ = cases_.size() - 1;
      }
      fa2_ = cases_.size() - 1;
    }
  }

  /// Kernels that a step leaves as they are need not run twice.
  void find_same_kernels(const kernels::GpuLimits& limits) {
    std::string before;
    for (std::size_t i = first_; i < cases_.size(); ++i) {
      LadderCase& of = cases_[i];
      std::string text = trace::to_text(kernels::find_kernel(of.variant).build(of.point.problem, limits));
      if (text == before) {
        const LadderCase& above = cases_[i - 1];
        of.same_as = above.same_as.empty() ? above.variant : above.same_as;
      }
      before = std::move(text);
    }
  }

  void add_singles() {
    for (const SingleChange& single : single_changes(causal_)) {
      LadderCase& added = add(single.series, single.variant, single.change, single.label);
      added.base = single.series == LadderSeries::alone_on_fa1 ? fa1_ : fa2_;
      added.has_change = single.is_gained;
    }
  }

 private:
  const LadderCase* first() const { return &cases_[first_]; }

  LadderCase& add(LadderSeries series, const std::string& variant, const std::string& change,
                  const std::string& label) {
    LadderCase added;
    added.series = series;
    added.gpu = &gpu_;
    added.variant = variant.empty() ? std::string(gpu_.kernels[0]) : variant;
    added.change = change;
    added.label = label;
    added.point = grid_point(gpu_.name, added.variant, head_dim_, causal_, seqlen_);
    added.point.problem.pass = pass_;
    added.phase_count = pass_ == kernels::Pass::forward && added.is_in_summary() ? kLadderPhases : 1;
    cases_.push_back(std::move(added));
    return cases_.back();
  }

  std::vector<LadderCase>& cases_;
  const GridGpu& gpu_;
  kernels::Pass pass_;
  int head_dim_;
  bool causal_;
  int seqlen_;
  std::size_t first_ = cases_.size();
  std::size_t fa1_ = 0;
  std::size_t fa2_ = 0;
};

}  // namespace

std::span<const GridGpu> summary_gpus() {
  return grid_gpus().first(2);
}

bool LadderCase::is_in_summary() const {
  return point.problem.seqlen_q == kSummarySeqlen && !point.problem.causal && is_summary_gpu(*gpu);
}

std::vector<LadderStep> ladder_steps(kernels::Pass pass) {
  std::vector<LadderStep> steps;
  if (pass == kernels::Pass::forward) {
    steps = {{"", "", "Standard", "Scores and probabilities go through HBM, in separate launches.", ""},
             {"fa1", "", "FA1", "One kernel; scores stay on the chip, partial outputs go to memory and back.",
              "HBM bytes of scores and probabilities, launches"}};
  } else {
    steps = {{"fa1", "", "FA1",
              "Keys stay while 16 queries a step pass by; both passes keep the log-sum-exp only, as FA2's.",
              ""}};
  }
  std::string variant = "fa1";
  for (const Change& change : all_changes()) {
    if (change.is_on_ladder(pass)) {
      const ChangeOfPass& told = change.in(pass);
      variant += "+" + std::string(change.name);
      steps.push_back({variant, std::string(change.name), std::string(told.title),
                       std::string(told.description), std::string(told.relieves)});
    }
  }
  // With the last change it is FA2 itself.
  steps.back().variant = "fa2";
  return steps;
}

std::string_view name(LadderSeries series) {
  static constexpr std::array<std::string_view, 4> kNames = {"ladder", "alone_on_fa1", "taken_from_fa2",
                                                             "beyond_fa2"};
  return kNames[static_cast<std::size_t>(series)];
}

std::vector<SingleChange> single_changes(bool causal) {
  std::vector<SingleChange> singles;
  for (const Change& change : changes_of(kernels::Pass::forward)) {
    if (needs_mask(change) && !causal) {
      continue;
    }
    const bool in_fa1 = kFa1Options.*change.option;
    const bool in_fa2 = kFa2Options.*change.option;
    const std::string name(change.name);
    const std::string label(change.forward.title);
    singles.push_back(
        {LadderSeries::alone_on_fa1, name, label, "fa1" + std::string(in_fa1 ? "-" : "+") + name, !in_fa1});
    singles.push_back({in_fa2 ? LadderSeries::taken_from_fa2 : LadderSeries::beyond_fa2, name, label,
                       "fa2" + std::string(in_fa2 ? "-" : "+") + name, !in_fa2});
  }
  std::ranges::stable_sort(singles, {}, &SingleChange::series);
  return singles;
}

std::vector<LadderCase> ladder_cases() {
  std::vector<LadderCase> cases;
  for (const kernels::Pass pass : kLadderPasses) {
    const bool is_forward = pass == kernels::Pass::forward;
    for (const GridGpu& gpu : is_forward ? grid_gpus() : summary_gpus()) {
      const kernels::GpuLimits limits =
          limits_of(hw::load(std::string(gpu.name), {}, config_directory()).config);
      for (const int head_dim : kGridHeadDims) {
        for (const bool causal : {false, true}) {
          for (const int seqlen : kLadderSeqlens) {
            Builder builder(cases, gpu, pass, head_dim, causal, seqlen);
            builder.add_ladder();
            if (!is_forward) {
              builder.find_same_kernels(limits);
            } else if (seqlen == kSummarySeqlen && is_summary_gpu(gpu)) {
              builder.add_singles();
            }
          }
        }
      }
    }
  }
  return cases;
}

std::vector<Point> points_of(std::span<const LadderCase> cases) {
  std::vector<Point> points;
  for (const LadderCase& of : cases) {
    for (int phase = 0; phase < of.phase_count; ++phase) {
      Point point = of.point;
      point.kernel = of.same_as.empty() ? of.variant : of.same_as;
      points.push_back(in_phase(point, phase));
    }
  }
  return points;
}

void take_results(std::vector<LadderCase>& cases, std::span<const StudyResult> results) {
  std::size_t next = 0;
  for (LadderCase& of : cases) {
    const auto count = static_cast<std::size_t>(of.phase_count);
    const std::span<const StudyResult> own = results.subspan(next, count);
    of.phases.assign(own.begin(), own.end());
    next += count;
  }
}

bool Speedup::is_certain() const {
  constexpr double kShown = 0.005;
  return std::abs(factor - 1) > std::max(kShown, plus_minus.value_or(0));
}

std::optional<Speedup> speedup(std::span<const LadderCase> cases, const LadderCase& of) {
  if (!of.base || !of.done() || !cases[*of.base].done()) {
    return std::nullopt;
  }
  const LadderCase& base = cases[*of.base];
  const LadderCase& with = of.has_change ? of : base;
  const LadderCase& without = of.has_change ? base : of;
  const auto ensemble = [](const LadderCase& one) {
    Ensemble result{one.point, {}, {}};
    for (const StudyResult& phase : one.phases) {
      if (phase.done()) {
        result.members.push_back(phase.result);
      }
    }
    return result;
  };
  const Ensemble a = ensemble(with);
  const Ensemble b = ensemble(without);
  if (a.members.size() < 2 || b.members.size() < 2) {
    return Speedup{without.result().time_us / with.result().time_us, std::nullopt};
  }
  const Difference slower = difference(a, b);
  return Speedup{1 + slower.share, slower.plus_minus};
}

double non_matmul_per_score(const LadderCase& of) {
  constexpr double kLanes = 32;
  const kernels::Problem& problem = of.point.problem;
  const double scores = static_cast<double>(problem.batch * problem.heads) *
                        static_cast<double>(problem.seqlen_q) * static_cast<double>(problem.seqlen_k) /
                        (problem.causal ? 2 : 1);
  const PointResult& result = of.result();
  return kLanes *
         (result.metric("sm__inst_executed.sum") - result.metric("sm__inst_executed_pipe_tensor.sum")) /
         scores;
}

}  // namespace warpscope::experiments
