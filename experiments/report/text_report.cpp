#include "experiments/report/text_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "experiments/base/text_table.hpp"
#include "experiments/base/wrapped_text.hpp"
#include "experiments/report/totals.hpp"
#include "experiments/report/traffic_table.hpp"
#include "experiments/report/units.hpp"
#include "experiments/report/utilisation.hpp"

namespace warpscope::experiments {
namespace {

using Align = TextTable::Align;
using Lines = std::vector<std::string>;

std::string bar(double share) {
  constexpr int kCells = 8;
  const int full = std::clamp(static_cast<int>(std::lround(share * kCells)), 0, kCells);
  std::string text;
  for (int cell = 0; cell < kCells; ++cell) {
    text += cell < full ? "█" : "·";
  }
  return text;
}

std::string heading(const Run& run) {
  const bool has_pass = run.point && run.point->problem.type == kernels::ProblemType::attention;
  const std::string what =
      run.point ? run.point->kernel + (has_pass ? std::string(" ") + text(run.point->problem.pass) : "")
                : run.trace_file;
  std::string page = fmt::format("{} on {} ({})\n", what, run.gpu, run.config.gpu.name);
  if (!run.overrides.empty()) {
    page += fmt::format("  changed: {}\n", fmt::join(run.overrides, " "));
  }
  if (run.point && run.point->problem.type != kernels::ProblemType::attention) {
    page += fmt::format("  {}\n", matrix_text(run.point->problem));
  } else if (run.point) {
    const kernels::Problem& problem = run.point->problem;
    page += fmt::format(
        "  batch {}, {} heads{}, {} queries, {} keys, head dimension {}, {}, {}{}\n", problem.batch,
        problem.heads,
        problem.heads_kv == problem.heads ? "" : fmt::format(" ({} for keys and values)", problem.heads_kv),
        problem.seqlen_q, problem.seqlen_k, problem.head_dim, problem.causal ? "causal" : "not causal",
        text(problem.dtype), extras_text(problem, ", "));
  }
  return page + '\n';
}

/// How near to detailed mode the cycles are, where not all was simulated: two standard deviations.
std::string sampled_text(const metrics::SimulationResult& result) {
  return result.cycles_deviation > 0
             ? fmt::format(", ± {} against --mode detailed",
                           percent(2 * result.cycles_deviation / static_cast<double>(result.cycles)))
             : "";
}

/// Nothing where the GPU's energies are not known.
std::string power_text(const Run& run) {
  const metrics::SimulationResult& result = run.result;
  if (result.power_w <= 0) {
    return "";
  }
  const std::string why = result.is_power_limited
                              ? "this limit lowers the clock"
                              : fmt::format("the limit of {:.0f} W is not reached", run.config.power.limit_w);
  return fmt::format("  power       {:>12.0f} W if repeated; {}\n", result.power_w, why);
}

std::string summary(const Run& run) {
  const Utilisation busy = utilisation(run);
  const Resource resource = busiest(busy);
  const std::string limiter = limiter_name(busy);
  const std::string share = percent(busy[static_cast<std::size_t>(resource)]);
  std::string page = fmt::format("  time        {:>12}\n", time_text(run.result.time_us));
  page += fmt::format("  cycles      {:>12} at {:.0f} MHz{}\n", grouped(run.result.cycles),
                      sm_clock_mhz(run.result), sampled_text(run.result));
  page += power_text(run);
  if (run.point) {
    const MatmulPeak peak = matmul_peak(run);
    page += fmt::format("  TFLOP/s     {:>12.1f} = {} of the {:.0f} that {} reaches at {} MHz\n", tflops(run),
                        percent(tflops(run) / peak.tflops), peak.tflops, peak.instruction,
                        run.config.clock.tensor_mhz);
  }
  page += fmt::format("  busiest     {}, {}: {}\n", name(resource), share,
                      limiter == name(resource) ? "--why finds out what limits the kernel"
                                                : "warps mostly wait, --why finds out for what");
  return page + '\n';
}

Lines utilisation_lines(const Run& run) {
  const Utilisation busy = utilisation(run);
  Lines lines = {"Busy, share of all cycles"};
  for (std::size_t i = 0; i < kResources; ++i) {
    lines.push_back(
        fmt::format("  {:<16} {:>7}  {}", name(static_cast<Resource>(i)), percent(busy[i]), bar(busy[i])));
  }
  return lines;
}

Lines stall_lines(const Run& run) {
  const StallCycles stalls = total_stalls(run.result);
  const double total = std::max(1.0, static_cast<double>(sum(stalls)));
  const double issued = std::max(1.0, value(total_metrics(run.result), "sm__inst_executed.sum"));
  Lines lines = {"Warp cycles by reason   share per issue"};
  for (const std::size_t i : longest_first(stalls)) {
    const double cycles = static_cast<double>(stalls[i]);
    lines.push_back(fmt::format("  {:<18} {:>8} {:>9.2f}", metrics::name(static_cast<metrics::Stall>(i)),
                                percent(cycles / total), cycles / issued));
  }
  return lines;
}

/// Two blocks of lines next to each other.
std::string beside(const Lines& left, const Lines& right) {
  std::size_t width = 0;
  for (const std::string& line : left) {
    width = std::max(width, display_width(line));
  }
  std::string page;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string line = "  " + padded(i < left.size() ? left[i] : "", width, false) + "  ";
    line += i < right.size() ? right[i] : "";
    line.erase(line.find_last_not_of(' ') + 1);
    page += line + '\n';
  }
  return page + '\n';
}

std::string occupancy_text(const hw::HwConfig& config, const metrics::LaunchResult& launch) {
  const metrics::Occupancy& occupancy = launch.occupancy;
  const auto warps = static_cast<int>(launch.threads_per_cta + 31) / 32;
  struct Limit {
    const char* name;
    int ctas;
  };
  const std::array<Limit, 4> limits = {
      Limit{"registers", occupancy.limit_registers}, Limit{"shared memory", occupancy.limit_shared_memory},
      Limit{"warps", occupancy.limit_warps}, Limit{"CTA slots", occupancy.limit_ctas}};
  std::string others;
  std::string by;
  for (const Limit& limit : limits) {
    std::string& list = limit.ctas == occupancy.ctas_per_sm ? by : others;
    list += list.empty() ? "" : &list == &by ? " and " : ", ";
    list += &list == &by ? limit.name : fmt::format("{} {}", limit.name, limit.ctas);
  }
  return fmt::format(
      "  Occupancy: {} CTAs of {} warps per SM, {} of {} warps\n"
      "    limited by {}{}\n\n",
      occupancy.ctas_per_sm, warps, occupancy.ctas_per_sm * warps, config.sm.max_warps, by,
      others.empty() ? "" : fmt::format("; would allow: {}", others));
}

/// Numbered, as the names of kernels are too long for a column; cycles are in the JSON.
std::string launch_table(const Run& run) {
  TextTable table(
      {{"Launch"}, {"CTAs"}, {"time"}, {"share"}, {"HBM GB/s"}, {"CTAs/SM"}, {"limited by", Align::left}});
  std::string names;
  for (std::size_t i = 0; i < run.result.launches.size(); ++i) {
    const metrics::LaunchResult& launch = run.result.launches[i];
    const double bytes =
        value(launch.metrics, "dram__bytes_read.sum") + value(launch.metrics, "dram__bytes_write.sum");
    const std::int64_t ctas = std::int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
    table.add_row(
        {std::to_string(i + 1), grouped(ctas), time_text(launch.time_us),
         percent(launch.time_us / run.result.time_us), fmt::format("{:.0f}", bytes / launch.time_us / 1e3),
         std::to_string(launch.occupancy.ctas_per_sm), limiter_name(utilisation(run.config, launch))});
    names += fmt::format("{}{} {}", names.empty() ? "  Launches: " : ", ", i + 1, launch.name);
  }
  return table.text() + names + "\n\n";
}

}  // namespace

std::string text_report(const Run& run) {
  std::string page = heading(run) + summary(run) + beside(utilisation_lines(run), stall_lines(run));
  if (run.result.launches.size() == 1) {
    page += occupancy_text(run.config, run.result.launches.front());
  } else {
    page += launch_table(run);
  }
  page += traffic_table(run);
  for (const std::string& note : notes(run)) {
    page += fmt::format("  Note: {}\n", note);
  }
  return fitted(page);
}

}  // namespace warpscope::experiments
