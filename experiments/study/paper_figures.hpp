// The study paper-figures: Figures 4 to 7 of the FlashAttention-2 paper, published bars beside the model's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/data/error_statistics.hpp"
#include "experiments/data/published_bars.hpp"
#include "experiments/plot/bar_chart.hpp"
#include "experiments/study/study_run.hpp"

namespace warpscope::experiments {

struct PaperFigure {
  int number = 0;
  std::string_view gpu;     ///< for readers
  std::string_view passes;  ///< for readers
  /// Whether what was measured on a H200 stands beside its bars: a H100 is the same chip with slower memory.
  bool shows_measured = false;
};
std::span<const PaperFigure> paper_figures();

struct PaperMethod {
  std::string_view name;    ///< in the published data
  std::string_view label;   ///< for readers
  std::string_view kernel;  ///< of this project; where there is none of this name it is not modelled
  /// Another setting that the benchmark tries in backward passes, to take the faster one; may be empty.
  std::string_view backward_alternative;
  std::string_view measured;  ///< implementation of MeasuredTimes; may be empty
  std::string_view colour;
  std::string_view pale;
};
/// In the order of the paper's legend.
std::span<const PaperMethod> paper_methods();

/// A published bar, and what the model says of it.
struct PaperBar {
  PublishedBar published;
  const PaperMethod* method = nullptr;
  kernels::Problem problem{};
  /// To be simulated: each pass, and its alternative. None where a pass is not modelled.
  std::vector<Point> passes;
  std::int64_t live_bytes = 0;            ///< of tensors alive at once at most, in any pass
  std::int64_t memory_bytes = 0;          ///< of the GPU
  bool is_in_sample = false;              ///< see kInSample
  std::optional<double> measured_tflops;  ///< on a H200
  std::vector<StudyResult> outcomes;      ///< of `passes`

  bool is_modelled() const { return !passes.empty(); }
  bool runs_out_of_memory() const { return is_modelled() && live_bytes > memory_bytes; }
  /// Of `pass`, the fastest where there are alternatives; null where none is done.
  const StudyResult* outcome_of(kernels::Pass pass) const;
  /// Why it has no time; empty where it has one, or is not modelled.
  std::string error() const;
  /// Of all its passes, as the paper adds them.
  std::optional<double> time_us() const;
  std::optional<double> tflops() const;
  /// Model over published less one.
  std::optional<double> relative_error() const;
};

/// All bars, figure by figure, without outcomes. Kernels and the passes that they have are looked up.
/// `references` holds the reference data. Throws UsageError where a file is damaged or missing.
std::vector<PaperBar> paper_bars(const std::filesystem::path& references);
/// "d 64 causal, 512 tokens".
std::string describe_shape(const PaperBar& bar);

/// Errors of the bars of one figure that differ in length only.
struct PaperErrors {
  const PaperFigure* figure = nullptr;
  const PaperBar* first = nullptr;
  ErrorStatistics errors;
  ErrorStatistics measured;  ///< on a H200 over published, less one
};
/// Of all bars that are modelled, by figure, method, head dimension, mask.
std::vector<PaperErrors> paper_errors(std::span<const PaperBar> bars);
std::string paper_errors_csv(std::span<const PaperErrors> errors);
std::string paper_errors_table(std::span<const PaperErrors> errors);

std::string paper_figure_table(const PaperFigure& figure, std::span<const PaperBar> bars);
/// The `count` bars that are furthest off.
std::string worst_bars_table(std::span<const PaperBar> bars, std::size_t count);
/// What the tensors of the bars take that the paper prints as OOM, or the model does.
std::string paper_memory_table(std::span<const PaperBar> bars);
/// A sentence per method.
std::vector<std::string> paper_sentences(std::span<const PaperBar> bars);
std::string paper_report(std::span<const PaperBar> bars);

/// A panel per head dimension and mask.
BarChart paper_chart(const PaperFigure& figure, std::span<const PaperBar> bars);
StudyOutput paper_output(std::span<const PaperBar> bars);

void run_paper_figures(const StudyOptions& options);

}  // namespace warpscope::experiments
