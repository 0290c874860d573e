#include "experiments/accuracy/observation.hpp"

#include <fmt/format.h>

#include <array>

#include "experiments/csv/csv.hpp"
#include "experiments/data/number.hpp"
#include "experiments/study/forward_grid.hpp"

namespace warpscope::experiments {
namespace {

constexpr const char* kReadBytes = "dram__bytes_read.sum";
constexpr const char* kWriteBytes = "dram__bytes_write.sum";
constexpr std::array kSummed = {"sm__inst_executed.sum", "sm__inst_executed_pipe_tensor_op_hmma.sum",
                                "sm__inst_executed_pipe_xu.sum", "smsp__inst_executed_op_ldgsts.sum",
                                "smsp__inst_executed_op_ldsm.sum"};

Point counters_point(const CsvTable& table, const CsvRecord& row) {
  Point point;
  point.model.gpu = "h200-sxm-141gb";
  point.kernel = cell(table, row, "impl");
  kernels::Problem& problem = point.problem;
  problem.batch = integer(table, row, "batch");
  problem.heads = integer(table, row, "heads");
  problem.heads_kv = integer(table, row, "heads_kv");
  problem.seqlen_q = integer(table, row, "seqlen_q");
  problem.seqlen_k = integer(table, row, "seqlen_k");
  problem.head_dim = integer(table, row, "head_dim");
  problem.causal = integer(table, row, "causal") == 1;
  return point;
}

bool is_modelled(const std::string& kernel) {
  for (const kernels::Kernel& known : kernels::all_kernels()) {
    if (known.name == kernel) {
      return true;
    }
  }
  return false;
}

void add_launch(Numbers& numbers, const CsvTable& table, const CsvRecord& row) {
  for (const char* metric : kSummed) {
    numbers[metric] += number(table, row, metric);
  }
  numbers[kCycles] += number(table, row, "sm__cycles_elapsed.max");
  numbers[kHbmBytes] += number(table, row, kReadBytes) + number(table, row, kWriteBytes);
}

void add_counters(const std::filesystem::path& file, std::vector<Observation>& observations) {
  const CsvTable table = read_csv(file.string());
  for (const CsvRecord& row : table.rows) {
    // Reductions of other libraries are no part of the kernel.
    if (cell(table, row, "pass") != "fwd" || !is_modelled(cell(table, row, "impl")) ||
        cell(table, row, "kernel").find("reduce_kernel") != std::string::npos) {
      continue;
    }
    // The launches of a call follow one another; the first starts a new observation.
    if (integer(table, row, "launch") == 0 || observations.empty()) {
      observations.push_back({counters_point(table, row), "counters.csv", {}});
    }
    add_launch(observations.back().numbers, table, row);
  }
}

void add_bars(const std::filesystem::path& directory, std::vector<Observation>& observations) {
  const ForwardReferences references(directory);
  for (const GridPoint& grid : forward_grid(references)) {
    if (grid.reference != nullptr && grid.reference->source == "published" && grid.reference->tflops) {
      observations.push_back({grid.point, "Fig. 5", {{kTflops, *grid.reference->tflops}}});
    }
  }
}

}  // namespace

std::vector<Observation> all_observations(const std::filesystem::path& directory) {
  std::vector<Observation> observations;
  add_counters(directory / "measured-h200/counters.csv", observations);
  add_bars(directory, observations);
  return observations;
}

Numbers model_numbers(const PointResult& result) {
  Numbers numbers = result.metrics;
  numbers[kCycles] = static_cast<double>(result.cycles);
  numbers[kTflops] = result.tflops;
  numbers[kHbmBytes] = result.read_bytes() + result.write_bytes();
  return numbers;
}

std::string label(const Point& point) {
  return fmt::format("d {}{}, {} tokens", point.problem.head_dim, point.problem.causal ? " causal" : "",
                     point.problem.seqlen_q);
}

}  // namespace warpscope::experiments
