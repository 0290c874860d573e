#include "experiments/accuracy/observation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "experiments/base/output.hpp"
#include "experiments/base/printable.hpp"
#include "experiments/batch/simulate_points.hpp"
#include "experiments/csv/csv.hpp"
#include "experiments/data/number.hpp"
#include "experiments/store/model_version.hpp"
#include "experiments/study/forward_grid.hpp"
#include "experiments/workers/worker_pool.hpp"

namespace warpscope::experiments {
namespace {

constexpr const char* kReadBytes = "dram__bytes_read.sum";
constexpr const char* kWriteBytes = "dram__bytes_write.sum";
constexpr std::array kSummed = {"sm__inst_executed.sum", "sm__inst_executed_pipe_tensor_op_hmma.sum",
                                "sm__inst_executed_pipe_xu.sum", "smsp__inst_executed_op_ldgsts.sum",
                                "smsp__inst_executed_op_ldsm.sum"};

// Launches of PyTorch's without which the counted calls of backward kernels ran: FlashAttention-1's fill and
// cast of dQ, FlashAttention-2's sums over query heads. And copies within the GPU, which the profiler does
// not list.
constexpr std::array<std::string_view, 5> kNotMeasured = {"zeros_for_dq", "copy_of_dq", "reduce_kernel dK",
                                                          "reduce_kernel dV", "memcpy_device_to_device"};

void subtract_sums(Numbers& numbers, const std::map<std::string, double>& metrics) {
  for (const auto& [name, number] : metrics) {
    if (name.ends_with(".sum")) {
      numbers[name] -= number;
    }
  }
}

/// Cells are empty, or 0, for what a launch did not have.
void set_features(kernels::Problem& problem, const CsvTable& table, const CsvRecord& row) {
  if (!cell(table, row, "window_left").empty()) {
    problem.window = {integer(table, row, "window_left"), integer(table, row, "window_right")};
  }
  problem.softcap = number(table, row, "softcap");
  problem.alibi = integer(table, row, "alibi") == 1;
}

void set_options(kernels::Problem& problem, const CsvTable& table, const CsvRecord& row) {
  const std::string lengths = cell(table, row, "seqlens");
  for (std::size_t begin = 0; begin < lengths.size();) {
    const std::size_t end = std::min(lengths.find(';', begin), lengths.size());
    problem.seqlens.push_back(std::stoll(lengths.substr(begin, end - begin)));
    begin = end + 1;
  }
  problem.dropout = number(table, row, "dropout");
  problem.page_size = integer(table, row, "page_size");
}

Point counters_point(const CsvTable& table, const CsvRecord& row) {
  Point point;
  point.model.gpu = table.column("gpu") == CsvTable::kNoColumn ? "h200-sxm-141gb" : cell(table, row, "gpu");
  point.kernel = cell(table, row, "impl");
  kernels::Problem& problem = point.problem;
  problem.batch = integer(table, row, "batch");
  problem.heads = integer(table, row, "heads");
  problem.heads_kv = integer(table, row, "heads_kv");
  problem.seqlen_q = integer(table, row, "seqlen_q");
  problem.seqlen_k = integer(table, row, "seqlen_k");
  problem.head_dim = integer(table, row, "head_dim");
  problem.causal = integer(table, row, "causal") == 1;
  if (table.column("num_splits") != CsvTable::kNoColumn) {
    problem.num_splits = integer(table, row, "num_splits");
  }
  if (table.column("window_left") != CsvTable::kNoColumn) {
    set_features(problem, table, row);
  }
  if (table.column("seqlens") != CsvTable::kNoColumn) {
    set_options(problem, table, row);
  }
  if (table.column("deterministic") != CsvTable::kNoColumn) {
    problem.deterministic = integer(table, row, "deterministic") == 1;
  }
  problem.pass = cell(table, row, "pass") == "bwd" ? kernels::Pass::backward : kernels::Pass::forward;
  return point;
}

bool is_modelled(const std::string& name, const std::string& pass) {
  const auto kernels = kernels::all_kernels();
  const auto known = std::ranges::find(kernels, name, &kernels::Kernel::name);
  return known != kernels.end() &&
         known->has(pass == "bwd" ? kernels::Pass::backward : kernels::Pass::forward);
}

/// Stall reasons are ratios, which say nothing about several launches together. Some files lack them.
void set_stalls(Numbers& numbers, const CsvTable& table, const CsvRecord& row, bool first_launch) {
  for (std::size_t i = 0; i < metrics::kStallReasons; ++i) {
    const std::string metric = metrics::metric(static_cast<metrics::Stall>(i));
    if (first_launch && table.column(metric) != CsvTable::kNoColumn) {
      numbers[metric] = number(table, row, metric);
    } else {
      numbers.erase(metric);
    }
  }
}

void add_launch(Numbers& numbers, const CsvTable& table, const CsvRecord& row) {
  for (const char* metric : kSummed) {
    numbers[metric] += number(table, row, metric);
  }
  numbers[kCycles] += number(table, row, "sm__cycles_elapsed.max");
  numbers[kHbmBytes] += number(table, row, kReadBytes) + number(table, row, kWriteBytes);
}

/// The file, or what of it a row belongs to, where the file says of each row what it was used for.
std::string source_of(const CsvTable& table, const CsvRecord& row, const char* file) {
  if (table.column("use") == CsvTable::kNoColumn) {
    return file;
  }
  return cell(table, row, "use") == "guide" ? kSplitGuides : kSplitHeldOut;
}

void add_counters(const std::filesystem::path& folder, const char* file,
                  std::vector<Observation>& observations) {
  const CsvTable table = read_csv((folder / file).string());
  for (const CsvRecord& row : table.rows) {
    // Reductions of other libraries are no part of the kernel.
    if (!is_modelled(cell(table, row, "impl"), cell(table, row, "pass")) ||
        cell(table, row, "kernel").find("reduce_kernel") != std::string::npos) {
      continue;
    }
    // The launches of a call follow one another; the first starts a new observation.
    const bool first_launch = integer(table, row, "launch") == 0 || observations.empty();
    if (first_launch) {
      observations.push_back({counters_point(table, row), source_of(table, row, file), {}});
    }
    set_stalls(observations.back().numbers, table, row, first_launch);
    add_launch(observations.back().numbers, table, row);
  }
}

/// Of FlashAttention-2 only: other kernels' calls are not what their times were measured of.
void add_times(const std::filesystem::path& directory, const char* file,
               std::vector<Observation>& observations) {
  const CsvTable table = read_csv((directory / "measured-h200" / file).string());
  for (const CsvRecord& row : table.rows) {
    if (cell(table, row, "impl").starts_with("fa2")) {
      observations.push_back(
          {counters_point(table, row), file, {{kMicroseconds, number(table, row, "median_us")}}});
    }
  }
}

/// Of tensors that lie as in the model.
void add_placed_bytes(const std::filesystem::path& folder, std::vector<Observation>& observations) {
  const CsvTable table = read_csv((folder / kPlacedBytes).string());
  for (const CsvRecord& row : table.rows) {
    if (cell(table, row, "tensors") == "behind") {
      Point point = counters_point(table, row);
      point.problem.heads_first = true;
      observations.push_back({point, kPlacedBytes, {{kHbmBytes, number(table, row, "median_bytes")}}});
    }
  }
}

void add_bars(const std::filesystem::path& directory, std::vector<Observation>& observations) {
  const ForwardReferences references(directory);
  for (const GridPoint& grid : forward_grid(references)) {
    if (grid.reference != nullptr && grid.reference->source == "published" && grid.reference->tflops) {
      observations.push_back({grid.point, kFigure5, {{kTflops, *grid.reference->tflops}}});
    }
  }
}

/// Bars of the paper that no study shows: of one figure, and a method that is a kernel here.
struct Bars {
  const char* figure;
  const char* method;
  const char* kernel;
  kernels::Pass pass;
  const char* source;
};

constexpr std::array kOtherBars = {
    Bars{"Fig5", "xformers", "xformers", kernels::Pass::forward, kFigure5},
    Bars{"Fig6", "fa2", "fa2", kernels::Pass::backward, kFigure6},
    Bars{"Fig6", "fa1", "fa1", kernels::Pass::backward, kFigure6},
    Bars{"Fig6", "xformers", "xformers", kernels::Pass::backward, kFigure6},
    Bars{"Fig6", "pytorch", "standard", kernels::Pass::backward, kFigure6},
};

void add_other_bars(const std::filesystem::path& directory, std::vector<Observation>& observations) {
  const CsvTable table = read_csv((directory / "published/fa2_published_tflops_hires.csv").string());
  for (const CsvRecord& row : table.rows) {
    const bool ran = !cell(table, row, "barheight_tflops").empty();  // else it went out of memory
    for (const Bars& bars : kOtherBars) {
      if (!ran || cell(table, row, "method") != bars.method ||
          !cell(table, row, "figure").starts_with(bars.figure)) {
        continue;
      }
      Point point =
          grid_point("a100-sxm4-80gb", bars.kernel, static_cast<int>(integer(table, row, "head_dim")),
                     integer(table, row, "causal") == 1, static_cast<int>(integer(table, row, "seqlen")));
      point.problem.pass = bars.pass;
      observations.push_back({point, bars.source, {{kTflops, number(table, row, "barheight_tflops")}}});
    }
  }
}

/// Empty, with a line on standard error, where the point could not be simulated.
Numbers numbers_of(const Point& point, const Outcome& outcome) {
  if (outcome.fate == Fate::done) {
    return model_numbers(result_from_json(nlohmann::json::parse(outcome.text)));
  }
  print_error(fmt::format("{} {} {} {}: {}", point.model.gpu, point.kernel, text(point.problem.pass),
                          label(point), one_line(outcome.text)));
  return {};
}

}  // namespace

std::vector<Observation> all_observations(const std::filesystem::path& directory) {
  const std::filesystem::path h200 = directory / "measured-h200";
  std::vector<Observation> observations;
  add_counters(h200, kCounters, observations);
  add_counters(h200, kEdgeCounters, observations);
  add_counters(h200, kXformersCounters, observations);
  add_counters(h200, kXformersDrawn, observations);
  add_counters(h200, kXformersColumns, observations);
  add_times(directory, kTimes, observations);
  add_times(directory, kTorchTimes, observations);
  add_times(directory, kTorchTimesAgain, observations);
  add_counters(h200, "counters_split.csv", observations);
  for (const char* file :
       {kFeatureCounters, kLengthCounters, kDropoutCounters, kPageCounters, kDeterministicCounters}) {
    add_counters(h200, file, observations);
  }
  add_placed_bytes(h200, observations);
  for (const Draw& draw : kDraws) {
    const std::size_t before = observations.size();
    add_counters(directory / draw.directory, draw.file, observations);
    for (std::size_t i = before; i < observations.size(); ++i) {
      observations[i].point.problem.heads_first = draw.heads_first;
    }
  }
  add_bars(directory, observations);
  add_other_bars(directory, observations);
  return observations;
}

Numbers model_numbers(const PointResult& result) {
  Numbers numbers = result.metrics;
  numbers[kCycles] = static_cast<double>(result.cycles);
  numbers[kTflops] = result.tflops;
  numbers[kMicroseconds] = result.time_us;
  for (const LaunchShare& launch : result.launches) {
    if (std::ranges::find(kNotMeasured, launch.name) != kNotMeasured.end()) {
      numbers[kCycles] -= static_cast<double>(launch.cycles);
      subtract_sums(numbers, launch.metrics);
    }
  }
  numbers[kHbmBytes] = numbers[kReadBytes] + numbers[kWriteBytes];
  return numbers;
}

std::vector<Numbers> simulate_numbers(const std::vector<Point>& points, const PoolOptions& workers,
                                      const char* what) {
  PointSimulator simulator;
  std::vector<KeyedPoint> keyed;
  keyed.reserve(points.size());
  for (const Point& point : points) {
    keyed.push_back(simulator.keyed(point));
  }
  ResultStore store(model_version());
  WorkerPool pool([&](const std::string& task) { return simulator.simulate(task); }, workers);
  simulate_points(distinct_by_cost(keyed), store, pool, what);
  std::vector<Numbers> numbers;
  numbers.reserve(keyed.size());
  for (const KeyedPoint& point : keyed) {
    numbers.push_back(numbers_of(point.point, store.find(point.key).value()));
  }
  return numbers;
}

std::string label(const Point& point) {
  const kernels::Problem& problem = point.problem;
  const std::string tokens = problem.seqlen_q == problem.seqlen_k
                                 ? fmt::format("{} tokens", problem.seqlen_q)
                                 : fmt::format("{} {} on {} keys", problem.seqlen_q,
                                               problem.seqlen_q == 1 ? "query" : "queries", problem.seqlen_k);
  return fmt::format("d {}{}, {}", problem.head_dim, problem.causal ? " causal" : "", tokens);
}

}  // namespace warpscope::experiments
