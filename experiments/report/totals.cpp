#include "experiments/report/totals.hpp"

#include <algorithm>
#include <numeric>

namespace warpscope::experiments {
namespace {

bool adds_up(const std::string& metric) {
  return metric.ends_with(".sum") || metric.starts_with("sm__cycles_");
}

}  // namespace

std::map<std::string, double> total_metrics(const metrics::SimulationResult& result) {
  std::map<std::string, double> totals;
  if (result.launches.size() == 1) {
    return result.launches.front().metrics;
  }
  for (const metrics::LaunchResult& launch : result.launches) {
    const double share =
        result.cycles > 0 ? static_cast<double>(launch.cycles) / static_cast<double>(result.cycles) : 0;
    for (const auto& [name, number] : launch.metrics) {
      totals[name] += adds_up(name) ? number : number * share;
    }
  }
  return totals;
}

std::vector<TensorRow> tensor_rows(const Run& run) {
  std::vector<TensorRow> rows;
  std::map<std::string, std::size_t> row_of;
  for (const CompulsoryBytes& tensor : run.compulsory) {
    row_of[tensor.tensor] = rows.size();
    rows.push_back({tensor.tensor, 0, 0, tensor.read + tensor.write, 0, 0, 0});
  }
  for (const metrics::LaunchResult& launch : run.result.launches) {
    for (const metrics::TensorTraffic& traffic : launch.traffic) {
      TensorRow& row = rows.at(row_of.at(traffic.tensor));
      row.read_bytes += traffic.dram_read_bytes;
      row.write_bytes += traffic.dram_write_bytes;
      row.l2_read_bytes += traffic.l2_read_bytes;
      row.l2_read_hit_bytes += traffic.l2_read_hit_bytes;
      row.l2_write_bytes += traffic.l2_write_bytes;
    }
  }
  TensorRow code{.tensor = "code"};
  TensorRow earlier{.tensor = "earlier data"};
  for (const metrics::LaunchResult& launch : run.result.launches) {
    code.read_bytes += launch.code_bytes;
    earlier.write_bytes += launch.earlier_bytes;
  }
  for (const TensorRow& row : {code, earlier}) {
    if (row.read_bytes + row.write_bytes > 0) {
      rows.push_back(row);
    }
  }
  return rows;
}

StallCycles total_stalls(const metrics::SimulationResult& result) {
  StallCycles totals{};
  for (const metrics::LaunchResult& launch : result.launches) {
    for (std::size_t i = 0; i < totals.size(); ++i) {
      totals[i] += launch.stall_warp_cycles[i];
    }
  }
  return totals;
}

std::vector<std::size_t> longest_first(const StallCycles& stalls) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < stalls.size(); ++i) {
    if (stalls[i] > 0) {
      order.push_back(i);
    }
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return stalls[a] > stalls[b]; });
  return order;
}

std::uint64_t sum(const StallCycles& stalls) {
  return std::accumulate(stalls.begin(), stalls.end(), std::uint64_t{0});
}

double value(const std::map<std::string, double>& metrics, const std::string& name) {
  const auto found = metrics.find(name);
  return found == metrics.end() ? 0 : found->second;
}

}  // namespace warpscope::experiments
