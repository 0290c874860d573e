// Loops like attention's, as they were compiled, on the model and on an H200: alone on an SM and in pairs.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"
#include "model/trace/text_reader.hpp"

namespace warpscope::validation {
namespace {

const std::string kSource = WARPSCOPE_SOURCE_DIR;

std::string trace_file(const std::string& loop) {
  return fmt::format("{}/tests/validation/data/attention_loops/{}.trace", kSource, loop);
}

/// A row of attention_loops.csv; times in cycles.
struct Loop {
  std::string name;
  double alone = 0;
  double younger_end = 0;
};

/// The loops as the compiler left them of which the trace is there.
std::vector<Loop> measured_loops() {
  const experiments::CsvTable table =
      experiments::read_csv(kSource + "/experiments/reference/measured-h200/attention_loops.csv");
  std::vector<Loop> loops;
  for (const experiments::CsvRecord& row : table.rows) {
    const auto field = [&](const char* column) { return row.fields.at(table.column(column)); };
    if (field("yields") != "as compiled" || field("guarded") != "0") {
      continue;
    }
    const int kind = std::stoi(field("loads")) + 2 * std::stoi(field("barriers"));
    const std::string name =
        fmt::format("{}_{}_{}_{}", field("score_tiles"), field("k_steps"), field("output_tiles"), kind);
    if (std::filesystem::exists(trace_file(name))) {
      loops.push_back({name, std::stod(field("alone_cycles")), std::stod(field("younger_end_cycles"))});
    }
  }
  return loops;
}

/// Cycles of so many CTAs on a GPU of one SM.
double cycles(const Loop& loop, std::uint32_t ctas) {
  hw::HwConfig config = hw::load("h200-sxm-141gb", {}, kSource + "/hwconfigs").config;
  config.launch.boundary_cycles = 0;  // the hardware was timed by the clock inside the kernel
  config.gpu.sm_count = 1;
  trace::Trace trace = trace::read_text_file(trace_file(loop.name));
  trace.launches.at(0).grid = {ctas, 1, 1};
  trace.launches[0].class_of_block[0].assign(ctas, 0);
  trace.launches[0].shared_bytes_per_cta = 100'000;
  gpu::SimulationOptions options;
  options.mode = gpu::Mode::detailed;
  return static_cast<double>(gpu::simulate(config, trace, options).launches.at(0).cycles);
}

TEST(AttentionLoops, TakeTheCyclesThatTheyTakeOnHardware) {
  constexpr double kAlone = 0.10;
  constexpr double kPair = 0.11;
  double alone_sum = 0;
  double pair_sum = 0;
  const std::vector<Loop> loops = measured_loops();
  for (const Loop& loop : loops) {
    const double alone = cycles(loop, 1) / loop.alone - 1;
    const double pair = cycles(loop, 2) / loop.younger_end - 1;
    alone_sum += std::abs(alone);
    pair_sum += std::abs(pair);
    EXPECT_LE(std::abs(alone), kAlone) << loop.name << " alone";
    EXPECT_LE(std::abs(pair), kPair) << loop.name << " in pairs";
    fmt::print("{:10} alone {:+.1f} %, in pairs {:+.1f} %\n", loop.name, 100 * alone, 100 * pair);
  }
  ASSERT_EQ(loops.size(), 10U);
  const auto rows = static_cast<double>(loops.size());
  fmt::print("mean {:.1f} and {:.1f} %\n", 100 * alone_sum / rows, 100 * pair_sum / rows);
  EXPECT_LT(alone_sum / rows, 0.05);
  EXPECT_LT(pair_sum / rows, 0.052);
}

}  // namespace
}  // namespace warpscope::validation
