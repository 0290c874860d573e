#include "experiments/page/run_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/page/roofline.hpp"
#include "experiments/page/run_charts.hpp"
#include "experiments/report/text_report.hpp"
#include "experiments/report/totals.hpp"
#include "experiments/report/units.hpp"
#include "experiments/report/utilisation.hpp"

namespace warpscope::experiments {
namespace {

std::string problem_text(const kernels::Problem& problem) {
  if (problem.type != kernels::ProblemType::attention) {
    return matrix_text(problem);
  }
  return fmt::format(
      "{} forward pass: batch {}, {} heads{}, {} queries, {} keys, head dimension {}, {}",
      text(problem.dtype), problem.batch, problem.heads,
      problem.heads_kv == problem.heads ? "" : fmt::format(" ({} for keys and values)", problem.heads_kv),
      grouped(problem.seqlen_q), grouped(problem.seqlen_k), problem.head_dim,
      problem.causal ? "causal" : "not causal");
}

std::uint64_t hbm_bytes(const Run& run) {
  std::uint64_t bytes = 0;
  for (const TensorRow& row : tensor_rows(run)) {
    bytes += row.read_bytes + row.write_bytes;
  }
  return bytes;
}

std::string time_fact(const Run& run) {
  const double deviation = run.result.cycles_deviation;
  return time_text(run.result.time_us) +
         (deviation > 0
              ? fmt::format(" \u00b1 {}", percent(2 * deviation / static_cast<double>(run.result.cycles)))
              : "");
}

std::string speed_sentence(const Run& run) {
  const double peak = matmul_peak(run).tflops;
  return fmt::format("{} takes {} on {}: {:.1f} TFLOP/s, {} of the {:.0f} that its tensor pipes reach.",
                     run.point->kernel, time_text(run.result.time_us), run.config.gpu.name, tflops(run),
                     percent(tflops(run) / peak), peak);
}

std::string busy_sentence(const Run& run) {
  const Utilisation busy = utilisation(run);
  const Resource resource = busiest(busy);
  const std::string share = percent(busy[static_cast<std::size_t>(resource)]);
  return limiter_name(busy) == name(resource)
             ? fmt::format("The busiest unit is the {}, {} of the time.", name(resource), share)
             : fmt::format(
                   "No unit is busy enough to be the limit: the busiest, the {}, works {} of the time, and "
                   "the "
                   "rest goes into waiting for results.",
                   name(resource), share);
}

std::string traffic_sentence(const Run& run) {
  const std::uint64_t bytes = hbm_bytes(run);
  std::uint64_t compulsory = 0;
  TensorRow largest;
  for (const TensorRow& row : tensor_rows(run)) {
    compulsory += row.compulsory_bytes;
    if (row.read_bytes + row.write_bytes >= largest.read_bytes + largest.write_bytes) {
      largest = row;
    }
  }
  const std::uint64_t most = largest.read_bytes + largest.write_bytes;
  std::string text = fmt::format("{} cross HBM", bytes_text(bytes));
  if (compulsory > 0) {
    text += fmt::format(", {:.2f} times what reading each input and writing each output once would take",
                        static_cast<double>(bytes) / static_cast<double>(compulsory));
  }
  return text + (bytes > 0 ? fmt::format("; most for {}, {}.", largest.tensor, bytes_text(most)) : ".");
}

std::string stall_sentence(const Run& run) {
  const StallCycles stalls = total_stalls(run.result);
  const auto first = std::max_element(stalls.begin() + 1, stalls.end());  // behind `selected`
  const double issued = std::max(1.0, value(total_metrics(run.result), "sm__inst_executed.sum"));
  return fmt::format("Per instruction issued, {:.2f} warps are stalled by {}, more than by anything else.",
                     static_cast<double>(*first) / issued,
                     metrics::name(static_cast<metrics::Stall>(first - stalls.begin())));
}

/// Found by experiment where there was one, otherwise the busiest unit.
/// What --why found; empty without it.
std::string limiter(const RunExtras& extras) {
  if (extras.gains) {
    for (const Gain& gain : *extras.gains) {
      if (gain.worth() > 0 && gain.time.is_certain() && !gain.improvement.is_whole_sm) {
        return std::string(gain.improvement.resource);
      }
    }
  }
  return "";
}

std::vector<std::string> words_of(const Run& run) {
  std::vector<std::string> words = {
      "TFLOP/s", "roofline", "arithmetic intensity", "non-matmul FLOP", "compulsory", "per issue",
      "CTA",     "warp"};
  for (std::size_t i = 0; i < kResources; ++i) {
    words.emplace_back(name(static_cast<Resource>(i)));
  }
  const StallCycles stalls = total_stalls(run.result);
  for (std::size_t i = 0; i < stalls.size(); ++i) {
    if (stalls[i] > 0) {
      words.emplace_back(metrics::name(static_cast<metrics::Stall>(i)));
    }
  }
  return words;
}

void add(std::vector<PageSection>& sections, PageSection section) {
  std::erase_if(section.charts, [](const Chart& chart) { return chart.empty(); });
  if (!section.charts.empty() || !section.paragraphs.empty()) {
    sections.push_back(std::move(section));
  }
}

std::vector<PageSection> sections_of(const Run& run, const RunExtras& extras) {
  std::vector<PageSection> sections;
  if (run.result.launches.size() > 1) {
    add(sections, {"launches", "Launches", {}, {launch_chart(run)}});
  }
  add(sections, {"roofline", "Speed beside the limits", {}, {roofline_chart(roofline(run))}});
  add(sections, {"traffic", "Bytes across HBM", {}, {traffic_chart(run)}});
  add(sections, {"busy", "How busy each unit was", {}, {busy_chart(run)}});
  add(sections, {"stalls", "Why warps waited", {}, {stall_chart(run)}});
  if (extras.gains) {
    add(sections, {"why",
                   "What more of each resource is worth",
                   {verdict(*extras.gains), gains_note()},
                   {gain_chart(*extras.gains)},
                   {}});
  }
  if (extras.timeline) {
    add(sections, {"ctas", "CTAs over time", {}, {cta_chart(*extras.timeline)}});
    add(sections, {"warps", "Warps over a few iterations", {}, {warp_chart(*extras.timeline)}});
  } else {
    add(sections, {"ctas",
                   "CTAs and warps over time",
                   {"This run was too long to be executed whole for the page. With --timeline FILE.json it "
                    "is, and charts of "
                    "CTAs and warps stand here."},
                   {}});
  }
  if (run.point) {
    add(sections, {"accuracy",
                   "How far to trust this",
                   {reference_sentence(extras.references)},
                   {reference_chart(extras.references)},
                   {}});
  }
  add(sections, {"notes", "Notes", notes(run), {}});
  return sections;
}

}  // namespace

std::vector<std::string> run_sentences(const Run& run, const RunExtras& extras) {
  std::vector<std::string> sentences;
  if (run.point) {
    sentences.push_back(speed_sentence(run));
  }
  sentences.push_back(busy_sentence(run));
  if (extras.gains) {
    sentences.push_back(verdict(*extras.gains));
  }
  sentences.push_back(traffic_sentence(run));
  sentences.push_back(stall_sentence(run));
  return sentences;
}

Page run_page(const Run& run, const RunExtras& extras) {
  Page page;
  page.title = fmt::format("{} on {}", run.point ? run.point->kernel : run.trace_file, run.config.gpu.name);
  page.subtitle = run.point ? problem_text(run.point->problem) : "a trace file";
  page.changes = run.overrides;
  page.facts.emplace_back("Time", time_fact(run));
  if (run.point) {
    page.facts.emplace_back("TFLOP/s", fmt::format("{:.1f}", tflops(run)));
  }
  if (const std::string found = limiter(extras); !found.empty()) {
    page.facts.emplace_back("Limited by", found);
  } else {
    page.facts.emplace_back("Busiest", std::string(name(busiest(utilisation(run)))));
  }
  page.facts.emplace_back("HBM bytes", bytes_text(hbm_bytes(run)));
  page.facts.emplace_back(
      "Cycles", fmt::format("{} at {:.0f} MHz", grouped(run.result.cycles), sm_clock_mhz(run.result)));
  page.sentences = run_sentences(run, extras);
  page.sections = sections_of(run, extras);
  page.words = words_of(run);
  return page;
}

}  // namespace warpscope::experiments
