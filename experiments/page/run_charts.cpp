#include "experiments/page/run_charts.hpp"

#include <algorithm>

#include "experiments/report/totals.hpp"
#include "experiments/report/utilisation.hpp"

namespace warpscope::experiments {

using Json = nlohmann::ordered_json;

Chart traffic_chart(const Run& run) {
  Chart chart("bars", "HBM traffic by tensor",
              {{"tensor", "tensor", Format::text},
               {"read_bytes", "read", Format::bytes},
               {"write_bytes", "written", Format::bytes},
               {"compulsory_bytes", "compulsory", Format::bytes},
               {"l2_read_bytes", "read from L2", Format::bytes},
               {"l2_hits", "L2 hits", Format::percent}});
  chart.option("label", "tensor")
      .option("bars", {"read_bytes", "write_bytes"})
      .option("reference", "compulsory_bytes");
  for (const TensorRow& row : tensor_rows(run)) {
    chart.add_row({row.tensor, row.read_bytes, row.write_bytes, row.compulsory_bytes, row.l2_read_bytes,
                   row.l2_read_bytes == 0 ? Json()
                                          : Json(static_cast<double>(row.l2_read_hit_bytes) /
                                                 static_cast<double>(row.l2_read_bytes))});
  }
  return chart;
}

Chart busy_chart(const Run& run) {
  Chart chart("bars", "Busy share of each unit",
              {{"unit", "unit", Format::text}, {"busy", "busy", Format::percent}});
  chart.option("label", "unit").option("bars", {"busy"}).option("maximum", 1);
  chart.option("note",
               "Share of all cycles of all SMs, from first to last; HBM against its data-sheet bandwidth.");
  const Utilisation busy = utilisation(run);
  std::vector<std::size_t> order(kResources);
  for (std::size_t i = 0; i < kResources; ++i) {
    order[i] = i;
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return busy[a] > busy[b]; });
  for (const std::size_t i : order) {
    chart.add_row({name(static_cast<Resource>(i)), busy[i]});
  }
  return chart;
}

Chart stall_chart(const Run& run) {
  Chart chart("bars", "What warps waited for",
              {{"reason", "reason", Format::text},
               {"per_issue", "warps per issue", Format::number},
               {"share", "share of warp cycles", Format::percent}});
  chart.option("label", "reason").option("bars", {"per_issue"});
  chart.option("note", "Warps in each state per instruction issued; `selected` is the one that issues.");
  const StallCycles stalls = total_stalls(run.result);
  const double total = std::max(1.0, static_cast<double>(sum(stalls)));
  const double issued = std::max(1.0, value(total_metrics(run.result), "sm__inst_executed.sum"));
  for (const std::size_t i : longest_first(stalls)) {
    const double cycles = static_cast<double>(stalls[i]);
    chart.add_row({metrics::name(static_cast<metrics::Stall>(i)), cycles / issued, cycles / total});
  }
  return chart;
}

Chart launch_chart(const Run& run) {
  Chart chart("bars", "Time by launch",
              {{"launch", "launch", Format::text},
               {"time_us", "time", Format::time_us},
               {"ctas", "CTAs", Format::count},
               {"cycles", "cycles", Format::cycles},
               {"ctas_per_sm", "CTAs per SM", Format::count},
               {"limiter", "limited by", Format::text}});
  chart.option("label", "launch").option("bars", {"time_us"});
  for (const metrics::LaunchResult& launch : run.result.launches) {
    chart.add_row({launch.name, launch.time_us,
                   std::int64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2], launch.cycles,
                   launch.occupancy.ctas_per_sm, limiter_name(utilisation(run.config, launch))});
  }
  return chart;
}

Chart gain_chart(std::span<const Gain> gains) {
  Chart chart("intervals", "Time with more of each resource",
              {{"resource", "with more of", Format::text},
               {"time_change", "time", Format::change},
               {"plus_minus", "\u00b1", Format::change},
               {"better", "better by", Format::change},
               {"set", "changed", Format::text}});
  chart.option("label", "resource").option("baseline", 0);
  chart.option("marks",
               Json::array({{{"value", "time_change"}, {"error", "plus_minus"}, {"label", "time"}}}));
  for (const Gain& gain : gains) {
    const bool done = gain.error.empty();
    chart.add_row({gain.improvement.resource, done ? Json(gain.time.share) : Json(),
                   done ? Json(gain.time.plus_minus) : Json(), gain.improvement.factor - 1,
                   done ? gain.improvement.changes.front() : gain.error});
  }
  return chart;
}

}  // namespace warpscope::experiments
