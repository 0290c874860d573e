// The ladder for the terminal.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "experiments/base/text_table.hpp"
#include "experiments/base/wrapped_text.hpp"
#include "experiments/report/units.hpp"
#include "experiments/study/ladder.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

constexpr double kMega = 1e6;
constexpr double kGiga = 1e9;

const char* const kPreface =
    "From standard attention over FlashAttention-1 to FlashAttention-2, a change a line;\n"
    "the backward pass from FlashAttention-1 on\n"
    "  x           times as fast as the line above; ± 19 in 20, from CTAs that start\n"
    "              a few cycles later (forward)\n"
    "  HBM         GB read and written\n"
    "  wavefronts  of shared memory, million\n"
    "  barriers    executed by warps, million\n"
    "  instr.      instructions per score that are no matrix product\n"
    "  tensor      share of the time that tensor pipes work\n\n";

std::string title(const LadderCase& of) {
  const kernels::Problem& problem = of.point.problem;
  return fmt::format("{}, {}d {}, {}{} tokens, batch {}, {} heads", of.gpu->label,
                     of.pass() == kernels::Pass::backward ? "backward, " : "", problem.head_dim,
                     problem.causal ? "causal, " : "", problem.seqlen_q, problem.batch, problem.heads);
}

std::string factor_text(const std::optional<Speedup>& gained) {
  if (!gained) {
    return "";
  }
  return fmt::format("{:.2f}", gained->factor) +
         (gained->plus_minus ? fmt::format(" ±{:.2f}", std::max(0.01, *gained->plus_minus)) : std::string());
}

bool same_problem(const LadderCase& a, const LadderCase& b) {
  const kernels::Problem& x = a.point.problem;
  const kernels::Problem& y = b.point.problem;
  return a.gpu == b.gpu && a.pass() == b.pass() && x.head_dim == y.head_dim && x.causal == y.causal &&
         x.seqlen_q == y.seqlen_q;
}

void add_row(TextTable& table, std::span<const LadderCase> cases, const LadderCase& of) {
  if (!of.done()) {
    table.add_row({of.label, "-"});
    return;
  }
  const PointResult& result = of.result();
  const auto millions = [&](const char* metric) {
    return fmt::format("{:.1f}", result.metric(metric) / kMega);
  };
  table.add_row({of.label, fmt::format("{:.0f}", result.tflops), factor_text(speedup(cases, of)),
                 fmt::format("{:.2f}", hbm_bytes(result) / kGiga),
                 millions("l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"),
                 millions("smsp__inst_executed_op_barrier.sum"),
                 fmt::format("{:.2f}", non_matmul_per_score(of)), percent(tensor_share(result))});
}

std::string ladder_table(std::span<const LadderCase> cases, const LadderCase& first) {
  TextTable table(
      {{"", Align::left}, {"TFLOP/s"}, {"x"}, {"HBM"}, {"wavefr."}, {"barriers"}, {"instr."}, {"tensor"}});
  for (const LadderCase& of : cases) {
    if (of.series == LadderSeries::ladder && same_problem(of, first)) {
      add_row(table, cases, of);
    }
  }
  return table.text();
}

/// The change alone: on FA1, from FA2 or beyond it.
std::string singles_table(std::span<const LadderCase> cases, const LadderCase& first) {
  struct Both {
    std::string fa1;
    std::string fa2;
  };
  std::vector<std::pair<std::string, Both>> rows;
  for (const LadderCase& of : cases) {
    if (of.series == LadderSeries::ladder || !same_problem(of, first)) {
      continue;
    }
    auto row = std::ranges::find(rows, of.label, &std::pair<std::string, Both>::first);
    if (row == rows.end()) {
      row = rows.insert(rows.end(), {of.label, {}});
    }
    const std::optional<Speedup> gained = speedup(cases, of);
    std::string text = factor_text(gained);
    if (gained && !gained->is_certain()) {
      text += " none";
    }
    (of.series == LadderSeries::alone_on_fa1 ? row->second.fa1 : row->second.fa2) = text;
  }
  TextTable table({{"", Align::left}, {"alone on FA1"}, {"in FA2"}});
  for (const auto& [label, both] : rows) {
    table.add_row({label, both.fa1, both.fa2});
  }
  return table.text();
}

/// Geometric mean and range of what each step brings over the lengths.
std::string lengths_table(std::span<const LadderCase> cases, const GridGpu& gpu, kernels::Pass pass) {
  const char* what = pass == kernels::Pass::backward ? ", backward" : "";
  std::vector<TextTable::Column> columns = {{std::string(gpu.label) + what, Align::left}};
  for (const int head_dim : kGridHeadDims) {
    for (const bool causal : {false, true}) {
      columns.push_back({fmt::format("d {}{}", head_dim, causal ? " causal" : "")});
    }
  }
  TextTable table(columns);
  const std::vector<LadderStep> steps = ladder_steps(pass);
  for (const LadderStep& step : steps) {
    std::vector<std::string> row = {step.label};
    for (const int head_dim : kGridHeadDims) {
      for (const bool causal : {false, true}) {
        double logarithms = 0;
        double least = HUGE_VAL;
        double most = 0;
        int count = 0;
        for (const LadderCase& of : cases) {
          const kernels::Problem& problem = of.point.problem;
          const std::optional<Speedup> gained = speedup(cases, of);
          if (of.series == LadderSeries::ladder && of.gpu == &gpu && of.pass() == pass &&
              of.label == step.label && gained && problem.head_dim == head_dim && problem.causal == causal) {
            logarithms += std::log(gained->factor);
            least = std::min(least, gained->factor);
            most = std::max(most, gained->factor);
            ++count;
          }
        }
        row.push_back(
            count == 0 ? "" : fmt::format("{:.2f} {:.2f}-{:.2f}", std::exp(logarithms / count), least, most));
      }
    }
    if (&step == &steps.front()) {
      continue;  // nothing stands above it
    }
    table.add_row(row);
  }
  return table.text("");
}

bool heads_a_table(const LadderCase& of) {
  return of.series == LadderSeries::ladder && of.is_in_summary() && !of.base;
}

}  // namespace

std::string ladder_report(std::span<const LadderCase> cases) {
  std::string page = kPreface;
  for (const LadderCase& of : cases) {
    if (heads_a_table(of)) {
      page += title(of) + "\n" + ladder_table(cases, of) + '\n';
    }
  }
  page +=
      "Each change by itself: times as fast with it as without it; none: within\nthe ±, or less than half a "
      "per cent\n\n";
  for (const LadderCase& of : cases) {
    if (heads_a_table(of) && of.pass() == kernels::Pass::forward) {
      page += title(of) + "\n" + singles_table(cases, of) + '\n';
    }
  }
  page += fmt::format("Steps at {} tokens: geometric mean, least-most\n\n", fmt::join(kLadderSeqlens, ", "));
  for (const GridGpu& gpu : grid_gpus()) {
    page += lengths_table(cases, gpu, kernels::Pass::forward) + '\n';
  }
  for (const GridGpu& gpu : summary_gpus()) {
    page += lengths_table(cases, gpu, kernels::Pass::backward) + '\n';
  }
  for (const std::string& sentence : ladder_sentences(cases)) {
    page += wrapped(sentence, "  - ");
  }
  return page;
}

}  // namespace warpscope::experiments
