// The report of parallelism for the terminal.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/text_table.hpp"
#include "experiments/report/text_report.hpp"
#include "experiments/report/units.hpp"
#include "experiments/study/parallelism.hpp"
#include "experiments/study/study_records.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

const char* const kPreface =
    "  CTAs, waves  CTAs of the launch, and over the slots for them on all SMs\n"
    "  SMs          SMs that held a CTA, mean over the time from first to last cycle\n"
    "  idle         share of the CTA slots of all SMs that were empty, mean over the time\n"
    "  last wave    reference: what CTAs of equal length would leave empty, 1 - waves / whole waves\n";

/// Points of one table line that are shown side by side: FA1 and FA2 with the same problem.
struct Pair {
  const ParallelPoint* fa1 = nullptr;
  const ParallelPoint* fa2 = nullptr;
};

bool same_problem(const ParallelPoint& a, const ParallelPoint& b) {
  const kernels::Problem& x = a.point.problem;
  const kernels::Problem& y = b.point.problem;
  return a.gpu == b.gpu && x.heads == y.heads && x.seqlen_q == y.seqlen_q && x.head_dim == y.head_dim;
}

std::vector<Pair> pairs(std::span<const ParallelPoint> points) {
  std::vector<Pair> result;
  for (const ParallelPoint& point : points) {
    if (point.method == Method::fa1) {
      result.push_back({&point, nullptr});
    } else {
      const auto found = std::ranges::find_if(
          result, [&](const Pair& pair) { return pair.fa2 == nullptr && same_problem(*pair.fa1, point); });
      if (found != result.end()) {
        found->fa2 = &point;
      }
    }
  }
  return result;
}

bool done(const Pair& pair) {
  return pair.fa2 != nullptr && pair.fa1->outcome.done() && pair.fa2->outcome.done();
}

/// Within one wave no more slots can be taken than there are CTAs.
bool is_impossible(const Filling& filled) {
  constexpr double kRounding = 1e-3;
  return filled.waves < 1 && filled.idle_slots < 1 - filled.waves - kRounding;
}

void add_cells(std::vector<std::string>& row, const ParallelPoint& point) {
  const Filling filled = filling(point);
  row.insert(row.end(),
             {fmt::format("{:.1f}", point.outcome.result.tflops), fmt::format("{:.0f}", filled.ctas),
              fmt::format("{:.2f}", filled.waves), fmt::format("{:.1f}", filled.busy_sms),
              percent(filled.idle_slots) + (is_impossible(filled) ? " !" : ""), percent(filled.last_wave)});
}

std::string gpu_table(const GridGpu& gpu, std::span<const Pair> all) {
  TextTable table({{"d"},
                   {"tokens"},
                   {"batch x heads"},
                   {"FA1 TFLOP/s"},
                   {"CTAs"},
                   {"waves"},
                   {"SMs"},
                   {"idle"},
                   {"last wave"},
                   {"FA2 TFLOP/s"},
                   {"CTAs"},
                   {"waves"},
                   {"SMs"},
                   {"idle"},
                   {"last wave"},
                   {"FA2/FA1"}});
  for (const Pair& pair : all) {
    if (pair.fa1->gpu != &gpu || !done(pair)) {
      continue;
    }
    const kernels::Problem& problem = pair.fa1->point.problem;
    if (problem.heads == kBatchHeads.front()) {
      table.add_rule();
    }
    std::vector<std::string> row = {std::to_string(problem.head_dim), std::to_string(problem.seqlen_q),
                                    std::to_string(problem.heads)};
    add_cells(row, *pair.fa1);
    add_cells(row, *pair.fa2);
    row.push_back(fmt::format("{:.1f}x", pair.fa2->outcome.result.tflops / pair.fa1->outcome.result.tflops));
    table.add_row(row);
  }
  return table.text();
}

/// The fewest batch x heads with nine tenths of the best speed; 0 without results.
std::int64_t enough(const GridGpu& gpu, Method method, int head_dim, int seqlen,
                    std::span<const ParallelPoint> points) {
  constexpr double kEnough = 0.9;
  std::vector<const ParallelPoint*> line;
  double best = 0;
  for (const ParallelPoint& point : points) {
    if (point.gpu == &gpu && point.method == method && point.point.problem.head_dim == head_dim &&
        point.point.problem.seqlen_q == seqlen && point.outcome.done()) {
      line.push_back(&point);
      best = std::max(best, point.outcome.result.tflops);
    }
  }
  const auto found = std::ranges::find_if(
      line, [&](const ParallelPoint* point) { return point->outcome.result.tflops >= kEnough * best; });
  return found == line.end() ? 0 : (*found)->point.problem.heads;
}

/// "FA1 128, 16, 8": for each length.
std::string enough_text(const GridGpu& gpu, Method method, int head_dim,
                        std::span<const ParallelPoint> points) {
  std::string text(name(method));
  const char* gap = " ";
  for (const int seqlen : kParallelismSeqlens) {
    text += fmt::format("{}{}", gap, enough(gpu, method, head_dim, seqlen, points));
    gap = ", ";
  }
  return text;
}

}  // namespace

std::string parallelism_findings(std::span<const ParallelPoint> points) {
  std::string page;
  const std::vector<Pair> all = pairs(points);
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    const Pair* widest = nullptr;
    const Pair* narrowest = nullptr;
    const auto gain = [](const Pair& pair) {
      return pair.fa2->outcome.result.tflops / pair.fa1->outcome.result.tflops;
    };
    for (const Pair& pair : all) {
      if (pair.fa1->gpu == &gpu && done(pair)) {
        widest = widest == nullptr || gain(pair) > gain(*widest) ? &pair : widest;
        narrowest = narrowest == nullptr || gain(pair) < gain(*narrowest) ? &pair : narrowest;
      }
    }
    std::string counts;
    for (const int head_dim : kGridHeadDims) {
      counts += fmt::format(" d {}: {}, {};", head_dim, enough_text(gpu, Method::fa1, head_dim, points),
                            enough_text(gpu, Method::fa2, head_dim, points));
    }
    counts.back() = '.';
    page += fmt::format(
        "  - {}: nine tenths of the best speed at 512, 2k and 16k tokens take a batch x heads of\n"
        "   {}\n",
        gpu.label, counts);
    if (widest != nullptr) {
      const auto describe_pair = [&](const Pair& pair) {
        const kernels::Problem& problem = pair.fa1->point.problem;
        return fmt::format("{:.1f}x at batch x heads {}, {} tokens, d {} ({:.0f} and {:.0f} SMs at work)",
                           gain(pair), problem.heads, length_label(problem.seqlen_q), problem.head_dim,
                           filling(*pair.fa1).busy_sms, filling(*pair.fa2).busy_sms);
      };
      page += fmt::format("    FA2 over FA1 is most, {},\n    and least, {}.\n", describe_pair(*widest),
                          describe_pair(*narrowest));
    }
  }
  return page;
}

std::string parallelism_report(std::span<const ParallelPoint> points) {
  std::string page =
      "How many CTAs attention needs: FA1 and FA2 forward, fp16, no mask, batch x heads against length\n\n";
  page += kPreface;
  const std::vector<Pair> all = pairs(points);
  for (const GridGpu& gpu : grid_gpus().first(2)) {
    page += fmt::format("\n{}\n\n", gpu.label) + gpu_table(gpu, all);
  }
  page += "\n  Findings\n" + parallelism_findings(points);
  page += "  Notes\n";
  page +=
      "  - FA1 splits the queries of a head over as many CTAs as v1.0.9's rule finds best, up to 30; the "
      "kernel\n"
      "    has no option to leave that out, so FA1 without splits is not shown.\n"
      "  - Batch and heads only count as their product: the study has batch 1.\n";
  if (page.find(" !") != std::string::npos) {
    page +=
        "  - !: fewer empty slots than the CTAs of the launch leave, which cannot be: --mode fast counts SMs "
        "and\n"
        "    idle of this row wrongly; --mode detailed does not.\n";
  }
  page += fmt::format("  - {}\n", kMmaSyncNote);
  std::vector<Point> simulated;
  std::vector<StudyResult> results;
  for (const ParallelPoint& point : points) {
    simulated.push_back(point.point);
    results.push_back(point.outcome);
  }
  return page + missing_notes(simulated, results);
}

}  // namespace warpscope::experiments
