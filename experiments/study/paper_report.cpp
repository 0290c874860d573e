// The report of paper-figures for the terminal.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/text_table.hpp"
#include "experiments/report/text_report.hpp"
#include "experiments/study/forward_grid.hpp"
#include "experiments/study/paper_figures.hpp"
#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

constexpr std::size_t kWorstBars = 10;
constexpr double kGB = 1e9;

std::string speed(std::optional<double> tflops, const char* absent) {
  return tflops ? fmt::format("{:.1f}", *tflops) : absent;
}

bool is_in_row(const PaperBar& bar, const PaperFigure& figure, int head_dim, bool causal, int seqlen) {
  const PublishedBar& published = bar.published;
  return published.figure == figure.number && published.head_dim == head_dim && published.causal == causal &&
         published.seqlen == seqlen;
}

/// The methods of the figure, those that the model has or those that it lacks.
std::vector<const PaperMethod*> methods_of(const PaperFigure& figure, bool modelled,
                                           std::span<const PaperBar> bars) {
  std::vector<const PaperMethod*> methods;
  for (const PaperMethod& method : paper_methods()) {
    if (std::ranges::any_of(bars, [&](const PaperBar& bar) {
          return bar.published.figure == figure.number && bar.method == &method &&
                 bar.is_modelled() == modelled;
        })) {
      methods.push_back(&method);
    }
  }
  return methods;
}

std::vector<std::string> cells(const PaperFigure& figure, const PaperBar& bar) {
  const std::optional<double> error = bar.relative_error();
  std::vector<std::string> cells = {speed(bar.published.tflops, "OOM"),
                                    speed(bar.tflops(), bar.runs_out_of_memory() ? "OOM" : "-"),
                                    error ? fmt::format("{:+.1f} %", 100 * *error) : "-"};
  if (figure.shows_measured) {
    cells.push_back(speed(bar.measured_tflops, "-"));
  }
  return cells;
}

std::string not_modelled(std::span<const PaperBar> bars) {
  std::string text;
  for (const PaperFigure& figure : paper_figures()) {
    std::string names;
    for (const PaperMethod* method : methods_of(figure, false, bars)) {
      names += fmt::format("{}{}", names.empty() ? "" : ", ", method->label);
    }
    if (!names.empty()) {
      text += fmt::format("  - Figure {}, {}: not modelled, published bars alone: {}.\n", figure.number,
                          figure.passes, names);
    }
  }
  return text;
}

}  // namespace

std::string paper_figure_table(const PaperFigure& figure, std::span<const PaperBar> bars) {
  const std::vector<const PaperMethod*> methods = methods_of(figure, true, bars);
  std::vector<TextTable::Column> columns = {{"d"}, {"causal", Align::left}, {"tokens"}};
  for (const PaperMethod* method : methods) {
    columns.push_back({fmt::format("{} paper", method->label)});
    columns.push_back({"model"});
    columns.push_back({"error"});
    if (figure.shows_measured) {
      columns.push_back({"H200"});
    }
  }
  TextTable table(columns);
  for (const int head_dim : kGridHeadDims) {
    for (const bool causal : {false, true}) {
      table.add_rule();
      for (const int seqlen : kGridSeqlens) {
        std::vector<std::string> row = {std::to_string(head_dim), causal ? "yes" : "no",
                                        std::to_string(seqlen)};
        for (const PaperMethod* method : methods) {
          const auto bar = std::ranges::find_if(bars, [&](const PaperBar& one) {
            return one.method == method && is_in_row(one, figure, head_dim, causal, seqlen);
          });
          const std::vector<std::string> numbers =
              bar == bars.end() ? std::vector<std::string>(figure.shows_measured ? 4 : 3, "-")
                                : cells(figure, *bar);
          row.insert(row.end(), numbers.begin(), numbers.end());
        }
        table.add_row(row);
      }
    }
  }
  return table.text();
}

std::string paper_memory_table(std::span<const PaperBar> bars) {
  TextTable table({{"figure"},
                   {"method", Align::left},
                   {"pass", Align::left},
                   {"bar", Align::left},
                   {"published"},
                   {"GB alive"},
                   {"GB of the GPU"},
                   {"counted", Align::left}});
  for (const PaperBar& bar : bars) {
    if (bar.is_modelled() && (!bar.published.tflops || bar.runs_out_of_memory())) {
      table.add_row({std::to_string(bar.published.figure), std::string(bar.method->label),
                     kernels::text(bar.published.pass), describe_shape(bar),
                     speed(bar.published.tflops, "OOM"),
                     fmt::format("{:.1f}", static_cast<double>(bar.live_bytes) / kGB),
                     fmt::format("{:.1f}", static_cast<double>(bar.memory_bytes) / kGB),
                     bar.runs_out_of_memory() ? "out of memory" : "fits"});
    }
  }
  return table.text();
}

std::string paper_report(std::span<const PaperBar> bars) {
  std::string page =
      "Figures 4 to 7 of the FlashAttention-2 paper, published and modelled: attention, fp16, 16384 tokens "
      "in\n"
      "all, hidden size 2048\n\n";
  for (const PaperFigure& figure : paper_figures()) {
    page += fmt::format("Figure {}: {} on {}, TFLOP/s\n\n", figure.number, figure.passes, figure.gpu) +
            paper_figure_table(figure, bars) + '\n';
  }
  page += "Errors of the model\n\n" + paper_errors_table(paper_errors(bars)) + '\n';
  page += fmt::format("The {} bars that are furthest off\n\n", kWorstBars) +
          worst_bars_table(bars, kWorstBars) + '\n';
  page += "Memory of the bars that the paper prints as OOM\n\n" + paper_memory_table(bars) + '\n';
  page += "  Findings\n";
  for (const std::string& sentence : paper_sentences(bars)) {
    page += fmt::format("  - {}\n", sentence);
  }
  page += "  Notes\n" + not_modelled(bars);
  page +=
      "  - Forward and backward together are the sum of two times, as in the paper's benchmark. TFLOP/s "
      "credit\n"
      "    2.5 times forward's work to backward, and half of it to causal attention.\n"
      "  - Triton's backward pass is the faster of triton and triton_seqpar, as the benchmark takes it.\n"
      "  - Of the published bars FA1's on the A100 guided the choice of CUDA 11.8 for its waits there. Where "
      "CSV\n"
      "    says that a bar is in-sample, instruction counts of the same launches on a H200 went into the "
      "kernel.\n"
      "  - OOM: the paper prints that. Alive are the tensors of the benchmark's function, counted as "
      "PyTorch\n"
      "    allocates and frees them. Those of 16384 tokens fit: on a H100 the function ran at head "
      "dimension\n"
      "    128, and at 64 where the allocator had no gaps (experiments/reference/measured-h200/\n"
      "    time_standard.md). The benchmark gives neither time where either pass fails, and that of the "
      "H100\n"
      "    (benchmarks/benchmark_causal.py of FlashAttention) does not run PyTorch above 8192 tokens.\n"
      "  - H200: times of back-to-back calls on one H200 SXM, some of them at the power limit. PyTorch is "
      "version\n"
      "    2.11 there, whose softmax is another one from 2048 tokens on (time_standard.md).\n";
  page += fmt::format("  - {}\n", kMmaSyncNote);
  for (const PaperBar& bar : bars) {
    if (bar.is_modelled()) {
      page += missing_notes(bar.passes, bar.outcomes);
    }
  }
  return page;
}

}  // namespace warpscope::experiments
