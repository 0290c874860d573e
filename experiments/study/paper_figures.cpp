#include "experiments/study/paper_figures.hpp"

#include <fmt/format.h>

#include "experiments/data/forward_reference.hpp"
#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

Record number(std::optional<double> value) {
  return value ? Record(*value) : Record();
}

/// Of the pass, where the bar has it and it was simulated.
Record pass_time_us(const PaperBar& bar, kernels::Pass pass) {
  if (const StudyResult* outcome = bar.outcome_of(pass)) {
    return outcome->result.time_us;
  }
  return {};
}

Record record(const PaperBar& bar) {
  const PublishedBar& published = bar.published;
  const bool modelled = bar.is_modelled();
  return {{"figure", published.figure},
          {"gpu", published.gpu},
          {"method", published.method},
          {"kernel", modelled ? Record(bar.method->kernel) : Record()},
          {"pass", kernels::text(published.pass)},
          {"batch", bar.problem.batch},
          {"heads", bar.problem.heads},
          {"seqlen", published.seqlen},
          {"head_dim", published.head_dim},
          {"causal", published.causal ? 1 : 0},
          {"published_tflops", published.tflops ? Record(*published.tflops) : Record("OOM")},
          {"model_tflops", bar.runs_out_of_memory() ? Record("OOM") : number(bar.tflops())},
          {"relative_error", number(bar.relative_error())},
          {"in_sample", !modelled ? Record() : Record(bar.is_in_sample ? "instructions" : "no")},
          {"measured_h200_tflops", number(bar.measured_tflops)},
          {"model_forward_us", pass_time_us(bar, kernels::Pass::forward)},
          {"model_backward_us", pass_time_us(bar, kernels::Pass::backward)},
          {"live_bytes", modelled ? Record(bar.live_bytes) : Record()},
          {"memory_bytes", modelled ? Record(bar.memory_bytes) : Record()},
          {"model_error",
           modelled ? (bar.error().empty() ? Record() : Record(bar.error())) : Record("not modelled")}};
}

}  // namespace

StudyOutput paper_output(std::span<const PaperBar> bars) {
  std::vector<Record> records;
  for (const PaperBar& bar : bars) {
    records.push_back(record(bar));
  }
  StudyOutput output{
      paper_report(bars), records_csv(records), records_json("paper-figures", records), {}, {}};
  output.json["sentences"] = paper_sentences(bars);
  for (const PaperFigure& figure : paper_figures()) {
    output.pictures.push_back({fmt::format("figure-{}", figure.number), paper_chart(figure, bars)});
  }
  output.tables.push_back({"errors.csv", paper_errors_csv(paper_errors(bars))});
  return output;
}

void run_paper_figures(const StudyOptions& options) {
  std::vector<PaperBar> bars = paper_bars(reference_directory());
  std::vector<Point> points;
  for (const PaperBar& bar : bars) {
    points.insert(points.end(), bar.passes.begin(), bar.passes.end());
  }
  run_study("paper-figures", options, points, [&](std::span<const StudyResult> results) {
    for (PaperBar& bar : bars) {
      const auto own = results.first(bar.passes.size());
      bar.outcomes.assign(own.begin(), own.end());
      results = results.subspan(own.size());
    }
    return paper_output(bars);
  });
}

}  // namespace warpscope::experiments
