// The report of why-fa2 for the terminal.
#include <fmt/format.h>

#include <algorithm>

#include "experiments/base/printable.hpp"
#include "experiments/base/text_table.hpp"
#include "experiments/data/error_statistics.hpp"
#include "experiments/report/text_report.hpp"
#include "experiments/report/units.hpp"
#include "experiments/study/why_fa2.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;

// Lengths that the summary of where time goes looks at.
constexpr std::array kSummarySeqlens = {512, 8192};

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

std::string model_cell(const GridPoint& point) {
  return point.error.empty() ? fmt::format("{:.1f}", point.tflops) : "-";
}

std::string reference_cell(const GridPoint& point) {
  if (point.reference == nullptr) {
    return "-";
  }
  return point.reference->tflops ? fmt::format("{:.1f}", *point.reference->tflops) : "OOM";
}

std::string problem_label(const GridPoint& point) {
  const kernels::Problem& problem = point.point.problem;
  return fmt::format("d {}{}, {} tokens", problem.head_dim, problem.causal ? " causal" : "",
                     problem.seqlen_q);
}

std::string gigabytes(std::uint64_t bytes) {
  constexpr double kGB = 1e9;
  return fmt::format("{:.2f}", static_cast<double>(bytes) / kGB);
}

std::vector<std::string> time_cells(const GridPoint& point, const GridPoint& slowest) {
  const double bytes = static_cast<double>(point.read_bytes + point.write_bytes);
  std::string stalls;
  int listed = 0;
  for (const auto& [reason, share] : point.stalls) {
    // A warp that issues is not waiting.
    if (reason != "selected" && share > 0 && listed < 2) {
      stalls += fmt::format("{}{} {:.0f} %", listed == 0 ? "" : ", ", reason, 100 * share);
      ++listed;
    }
  }
  return {fmt::format("{}", name(point.method)),
          time_text(point.time_us),
          fmt::format("{:.1f}x", slowest.time_us / point.time_us),
          gigabytes(point.read_bytes + point.write_bytes),
          fmt::format("{:.1f}x", bytes / static_cast<double>(point.compulsory_bytes)),
          fmt::format("{} {:.0f} %", point.busiest, 100 * point.busiest_share),
          stalls};
}

}  // namespace

std::string grid_table(const GridGpu& gpu, std::span<const GridPoint> points) {
  std::vector<TextTable::Column> columns = {{"d"}, {"causal", Align::left}, {"tokens"}};
  for (std::size_t m = 0; m < kMethods; ++m) {
    columns.push_back({fmt::format("{}{}", m == 0 ? "" : " ", name(static_cast<Method>(m)))});
    if (!gpu.reference.empty()) {
      columns.push_back({std::string(gpu.reference)});
      columns.push_back({"error"});
    }
  }
  TextTable table(columns);
  std::vector<std::string> row;
  for (const GridPoint& point : points) {
    if (point.gpu != &gpu) {
      continue;
    }
    const kernels::Problem& problem = point.point.problem;
    if (point.method == Method::standard) {
      if (problem.seqlen_q == kGridSeqlens.front()) {
        table.add_rule();
      }
      row = {std::to_string(problem.head_dim), problem.causal ? "yes" : "no",
             std::to_string(problem.seqlen_q)};
    }
    row.push_back(model_cell(point));
    if (!gpu.reference.empty()) {
      row.push_back(reference_cell(point));
      row.push_back(point.has_error_against_reference() ? signed_percent(point.relative_error()) : "-");
    }
    if (point.method == Method::fa2) {
      table.add_row(row);
    }
  }
  return table.text("");
}

std::string error_table(std::span<const GridPoint> points) {
  TextTable table({{"GPU", Align::left},
                   {"kernel", Align::left},

                   {"points"},
                   {"mean error"},
                   {"bias"},
                   {"worst"},
                   {"at", Align::left}});
  for (const GridGpu& gpu : grid_gpus()) {
    for (std::size_t m = 0; m < kMethods && !gpu.reference.empty(); ++m) {
      ErrorStatistics errors;
      for (const GridPoint& point : points) {
        if (point.gpu == &gpu && point.method == static_cast<Method>(m) &&
            point.has_error_against_reference()) {
          errors.add(point.relative_error(), problem_label(point));
        }
      }
      table.add_row({std::string(gpu.name), std::string(gpu.kernels[m]), std::to_string(errors.count()),
                     percent(errors.mean()), signed_percent(errors.bias()), signed_percent(errors.worst()),
                     errors.worst_point()});
    }
  }
  return table.text("");
}

std::string where_time_goes(std::span<const GridPoint> points) {
  std::string page;
  for (std::size_t i = 0; i + kMethods <= points.size(); i += kMethods) {
    const std::span<const GridPoint> group = points.subspan(i, kMethods);
    const kernels::Problem& problem = group.front().point.problem;
    if (problem.causal || std::ranges::find(kSummarySeqlens, problem.seqlen_q) == kSummarySeqlens.end()) {
      continue;
    }
    TextTable table({{"", Align::left},
                     {"time"},
                     {"speed"},
                     {"HBM GB"},
                     {"of minimum"},
                     {"busiest", Align::left},
                     {"warps wait for", Align::left}});
    for (const GridPoint& point : group) {
      if (point.error.empty() && group.front().error.empty()) {
        table.add_row(time_cells(point, group.front()));
      }
    }
    page +=
        fmt::format("{}, d {}, {} tokens\n", group.front().gpu->label, problem.head_dim, problem.seqlen_q) +
        table.text() + '\n';
  }
  return page;
}

std::string grid_report(std::span<const GridPoint> points) {
  std::string page =
      "Why FlashAttention-2 is fast: forward attention, fp16, 16384 tokens in all, hidden size 2048\n\n";
  for (const GridGpu& gpu : grid_gpus()) {
    page += fmt::format("{}: TFLOP/s of the model{}\n\n", gpu.label,
                        gpu.reference.empty() ? "; Figure 7 of the paper has no forward bars to compare with"
                                              : fmt::format(" beside {} ones", gpu.reference));
    page += grid_table(gpu, points) + '\n';
  }
  page += "Errors of the model\n\n" + error_table(points) + '\n';
  page += "Where the time goes, not causal\n\n" + where_time_goes(points);
  page += "  Notes\n";
  page +=
      "  - Published: Figure 5 of the FlashAttention-2 paper. Measured: one H200 SXM, times of back-to-back\n"
      "    calls, some of them at the power limit.\n";
  page += fmt::format("  - {}\n", kMmaSyncNote);
  page +=
      "  - OOM: the published run went out of memory. TFLOP/s credit half the work to causal attention,\n"
      "    also where a kernel does all of it.\n";
  for (const GridPoint& point : points) {
    if (!point.error.empty()) {
      page += fmt::format("  - not simulated: {} {}, {}: {}\n", point.point.model.gpu, point.point.kernel,
                          problem_label(point), one_line(point.error));
    }
  }
  return page;
}

}  // namespace warpscope::experiments
