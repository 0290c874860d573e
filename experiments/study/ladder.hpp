// From standard attention over FlashAttention-1 to FlashAttention-2, one change at a time; the backward pass
// from FlashAttention-1 on.
#pragma once

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plot/bar_chart.hpp"
#include "experiments/study/forward_grid.hpp"
#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {

/// A kernel that the ladder steps on. Empty names stand for the GPU's kernel of standard attention.
struct LadderStep {
  std::string variant;
  std::string change;  ///< its name; empty for standard attention and FA1
  std::string label;
  std::string description;
  std::string relieves;
};

/// The passes that have a ladder.
inline constexpr std::array kLadderPasses = {kernels::Pass::forward, kernels::Pass::backward};

/// Forward standard attention, then FA1, and FA1 with one change more on each step up to FA2.
std::vector<LadderStep> ladder_steps(kernels::Pass pass);

/// What a change is tried on.
enum class LadderSeries { ladder, alone_on_fa1, taken_from_fa2, beyond_fa2 };
std::string_view name(LadderSeries series);

/// The change of a single choice and the two kernels on either side of it.
struct SingleChange {
  LadderSeries series = LadderSeries::ladder;
  std::string change;
  std::string label;
  std::string variant;     ///< FA1 or FA2 with the change
  bool is_gained = false;  ///< the variant has the change and its base does not
};

/// Every change of the forward pass alone on FA1, taken from FA2, and beyond FA2. Those of the causal mask
/// only where there is one.
std::vector<SingleChange> single_changes(bool causal);

/// One kernel on one problem, run in several start phases where its spread is asked for.
struct LadderCase {
  LadderSeries series = LadderSeries::ladder;
  const GridGpu* gpu = nullptr;
  std::string variant;
  std::string change;
  std::string label;
  Point point;
  /// The kernel of the step before where the change leaves it as it is on this problem; else empty.
  std::string same_as;
  std::vector<StudyResult> phases;  ///< the first is the point itself
  int phase_count = 1;
  std::optional<std::size_t> base;  ///< index of the case that it is compared with
  bool has_change = true;           ///< and which of the two has the change

  kernels::Pass pass() const { return point.problem.pass; }
  /// Of the ladders that the summary shows.
  bool is_in_summary() const;
  bool done() const { return !phases.empty() && phases.front().done(); }
  const PointResult& result() const { return phases.front().result; }
};

/// How many times as fast the change makes the kernel.
struct Speedup {
  double factor = 1;
  std::optional<double> plus_minus;  ///< 19 in 20; none where the phases were not run

  /// More than chance, and more than the half per cent that two digits show.
  bool is_certain() const;
};

/// Lengths at which the ladder is climbed.
inline constexpr std::array kLadderSeqlens = {512, 4096, 16384};
/// Length at which every change is also tried alone on the GPUs of the summary, A100 and H100, and where
/// the spread is measured there.
inline constexpr int kSummarySeqlen = 4096;
/// GPUs of the summary, the only ones with a backward ladder, whose spread is not measured.
std::span<const GridGpu> summary_gpus();

std::vector<LadderCase> ladder_cases();
/// Points of the cases, phase by phase.
std::vector<Point> points_of(std::span<const LadderCase> cases);
/// Fills in the results, in the order of points_of().
void take_results(std::vector<LadderCase>& cases, std::span<const StudyResult> results);

/// None where one of the two has no result.
std::optional<Speedup> speedup(std::span<const LadderCase> cases, const LadderCase& of);

/// Warp instructions that are no HMMA, of all lanes, over the scores that attention needs.
double non_matmul_per_score(const LadderCase& of);

/// The report for the terminal, sentences on why FA2 wins, and records for CSV and JSON.
std::string ladder_report(std::span<const LadderCase> cases);
std::vector<std::string> ladder_sentences(std::span<const LadderCase> cases);
nlohmann::ordered_json ladder_json(std::span<const LadderCase> cases);
std::string ladder_csv(std::span<const LadderCase> cases);
/// TFLOP/s step by step at the summary's length, a panel per head dimension and mask.
BarChart ladder_chart(const GridGpu& gpu, kernels::Pass pass, std::span<const LadderCase> cases);

}  // namespace warpscope::experiments
