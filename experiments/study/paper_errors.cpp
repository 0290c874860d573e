// How far the model is from the paper's bars, and which bars are worst.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/base/text_table.hpp"
#include "experiments/report/units.hpp"
#include "experiments/study/paper_figures.hpp"
#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

bool is_of(const PaperErrors& row, const PaperFigure& figure, const PaperBar& bar) {
  const PublishedBar& first = row.first->published;
  return row.figure == &figure && row.first->method == bar.method &&
         first.head_dim == bar.published.head_dim && first.causal == bar.published.causal;
}

/// The errors of a forward and a backward bar of the same shape, where the paper has them.
std::string by_pass(const PaperBar& bar, std::span<const PaperBar> bars) {
  std::string text;
  for (const PaperBar& other : bars) {
    const PublishedBar& a = bar.published;
    const PublishedBar& b = other.published;
    const bool is_part = a.gpu == b.gpu && a.method == b.method && a.head_dim == b.head_dim &&
                         a.causal == b.causal && a.seqlen == b.seqlen && a.figure != b.figure;
    if (a.pass == kernels::Pass::both && is_part && other.relative_error()) {
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kernels::text(b.pass),
                          signed_percent(*other.relative_error()));
    }
  }
  return text;
}

/// "fwd L1 60 %, bwd tensor pipe 71 %".
std::string busiest_by_pass(const PaperBar& bar) {
  std::string text;
  for (const kernels::Problem& pass : kernels::problem_by_pass(bar.problem)) {
    if (const StudyResult* outcome = bar.outcome_of(pass.pass)) {
      text += fmt::format("{}{} {} {:.0f} %", text.empty() ? "" : ", ", kernels::text(pass.pass),
                          outcome->result.busiest, 100 * outcome->result.busiest_share);
    }
  }
  return text;
}

}  // namespace

std::vector<PaperErrors> paper_errors(std::span<const PaperBar> bars) {
  std::vector<PaperErrors> rows;
  for (const PaperFigure& figure : paper_figures()) {
    for (const PaperMethod& method : paper_methods()) {
      for (const PaperBar& bar : bars) {
        if (bar.published.figure != figure.number || bar.method != &method || !bar.relative_error()) {
          continue;
        }
        auto row =
            std::ranges::find_if(rows, [&](const PaperErrors& known) { return is_of(known, figure, bar); });
        if (row == rows.end()) {
          row = rows.insert(row, {&figure, &bar, {}, {}});
        }
        const std::string tokens = std::to_string(bar.published.seqlen);
        row->errors.add(*bar.relative_error(), tokens);
        if (figure.shows_measured && bar.measured_tflops) {
          row->measured.add(*bar.measured_tflops / *bar.published.tflops - 1, tokens);
        }
      }
    }
  }
  return rows;
}

std::string paper_errors_csv(std::span<const PaperErrors> errors) {
  std::vector<Record> records;
  for (const PaperErrors& row : errors) {
    const PaperBar& bar = *row.first;
    const bool measured = row.measured.count() > 0;
    records.push_back(
        {{"figure", row.figure->number},
         {"gpu", bar.published.gpu},
         {"method", bar.published.method},
         {"kernel", bar.method->kernel},
         {"pass", kernels::text(bar.published.pass)},
         {"head_dim", bar.published.head_dim},
         {"causal", bar.published.causal ? 1 : 0},
         {"bars", row.errors.count()},
         {"mean_error", row.errors.mean()},
         {"bias", row.errors.bias()},
         {"worst_error", row.errors.worst()},
         {"worst_seqlen", row.errors.worst_point()},
         {"measured_h200_over_published", measured ? Record(1 + row.measured.bias()) : Record()}});
  }
  return records_csv(records);
}

std::string paper_errors_table(std::span<const PaperErrors> errors) {
  TextTable table({{"figure"},
                   {"method", Align::left},
                   {"pass", Align::left},
                   {"d"},
                   {"causal", Align::left},
                   {"bars"},
                   {"mean error"},
                   {"bias"},
                   {"worst"},
                   {"at tokens"},
                   {"H200 / published"}});
  const PaperFigure* figure = nullptr;
  for (const PaperErrors& row : errors) {
    const PublishedBar& bar = row.first->published;
    if (row.figure != figure) {
      table.add_rule();
      figure = row.figure;
    }
    table.add_row({std::to_string(row.figure->number), std::string(row.first->method->label),
                   kernels::text(bar.pass), std::to_string(bar.head_dim), bar.causal ? "yes" : "no",
                   std::to_string(row.errors.count()), percent(row.errors.mean()),
                   signed_percent(row.errors.bias()), signed_percent(row.errors.worst()),
                   row.errors.worst_point(),
                   row.measured.count() > 0 ? fmt::format("{:.2f}", 1 + row.measured.bias()) : ""});
  }
  return table.text();
}

std::string worst_bars_table(std::span<const PaperBar> bars, std::size_t count) {
  std::vector<const PaperBar*> worst;
  for (const PaperBar& bar : bars) {
    if (bar.relative_error()) {
      worst.push_back(&bar);
    }
  }
  std::ranges::stable_sort(worst, std::ranges::greater(),
                           [](const PaperBar* bar) { return std::abs(*bar->relative_error()); });
  worst.resize(std::min(count, worst.size()));
  TextTable table({{"figure"},
                   {"bar", Align::left},
                   {"published"},
                   {"model"},
                   {"error"},
                   {"its passes", Align::left},
                   {"busiest in the model", Align::left}});
  for (const PaperBar* bar : worst) {
    table.add_row({std::to_string(bar->published.figure),
                   fmt::format("{}, {}", bar->method->label, describe_shape(*bar)),
                   fmt::format("{:.1f}", *bar->published.tflops), fmt::format("{:.1f}", *bar->tflops()),
                   signed_percent(*bar->relative_error()), by_pass(*bar, bars), busiest_by_pass(*bar)});
  }
  return table.text();
}

std::vector<std::string> paper_sentences(std::span<const PaperBar> bars) {
  std::vector<std::string> sentences;
  for (const PaperMethod& method : paper_methods()) {
    ErrorStatistics errors;
    std::size_t shown = 0;
    for (const PaperBar& bar : bars) {
      shown += bar.method == &method && bar.published.tflops ? 1 : 0;
      if (bar.method == &method && bar.relative_error()) {
        errors.add(*bar.relative_error(),
                   fmt::format("Figure {}, {}", bar.published.figure, describe_shape(bar)));
      }
    }
    sentences.push_back(errors.count() == 0
                            ? fmt::format("{}: not modelled, {} bars.", method.label, shown)
                            : fmt::format("{}: {} of {} bars, mean error {}, bias {}, worst {} ({}).",
                                          method.label, errors.count(), shown, percent(errors.mean()),
                                          signed_percent(errors.bias()), signed_percent(errors.worst()),
                                          errors.worst_point()));
  }
  return sentences;
}

}  // namespace warpscope::experiments
