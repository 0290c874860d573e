// Reductions that come all at once, and a load from shared memory behind them, against
// experiments/reference/measured-h200/reduction_bursts.csv.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "experiments/csv/csv.hpp"
#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"
#include "tests/validation/instruction_kinds.hpp"
#include "tests/validation/program_builder.hpp"

namespace warpscope::validation {
namespace {

using trace::Opcode;

constexpr std::uint32_t kRounds = 12;
constexpr int kLineBytes = 128;

/// Rounds of so many reductions of each warp, with a long wait in front.
trace::Trace rounds(int warps, int reductions) {
  ProgramBuilder builder("burst");
  builder.begin_loop(0);
  add_chains(builder, "imad", 0, 1, 1500);
  builder.add_immediate(Opcode::BAR_SYNC, 0);
  for (int i = 0; i < reductions; ++i) {
    trace::AffineIndex offset;
    offset.offset = std::int64_t{kLineBytes} * i;
    offset.per_warp = std::int64_t{kLineBytes} * reductions;
    builder.add_global(Opcode::RED_ADD_F32, {}, {reg(2, 2), reg(4)}, kLineBytes, offset);
  }
  builder.add_shared(Opcode::LDS_32, reg(8), {reg(2)}, kLineBytes);
  builder.add(Opcode::IADD3, reg(9), {reg(8)});
  builder.add_immediate(Opcode::BAR_SYNC, 0);
  builder.end_loop();
  trace::Trace trace;
  trace.launches = {make_launch("burst", 1, static_cast<std::uint32_t>(warps), builder.finish(), kRounds)};
  trace.tensors = {{"sums", trace::TensorKind::scratch, 1, 1 << 20}};
  return trace;
}

double cycles_of_round(const hw::HwConfig& config, int warps, int reductions) {
  gpu::SimulationOptions options;
  options.mode = gpu::Mode::detailed;
  const auto result = gpu::simulate(config, rounds(warps, reductions), options);
  return static_cast<double>(result.launches.at(0).cycles) / kRounds;
}

// As long as there is room each takes the port two cycles, and then as long as it takes to leave.
TEST(ReductionBursts, TakeAsLongAsMeasured) {
  const hw::HwConfig config = hw::load("h200-sxm-141gb", {}, WARPSCOPE_SOURCE_DIR "/hwconfigs").config;
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-h200/reduction_bursts.csv");
  std::map<int, std::pair<double, double>> without;  // by warps: measured and the model's
  int rows = 0;
  for (const experiments::CsvRecord& row : table.rows) {
    const auto number = [&](const char* column) { return std::stoi(row.fields.at(table.column(column))); };
    // One warp alone reads its registers for longer.
    if (number("lane_bytes") != 4 || number("sms") != 1 || number("warps") < 4) {
      continue;
    }
    const int warps = number("warps");
    const double measured = number("load_behind_cycles");
    const double ours = cycles_of_round(config, warps, number("reds_of_warp"));
    if (number("reds_of_warp") == 0) {
      without[warps] = {measured, ours};
      continue;
    }
    const double longer = measured - without.at(warps).first;
    EXPECT_NEAR((ours - without.at(warps).second) / longer, 1, 0.06)
        << warps << " warps, " << number("reds_of_warp");
    ++rows;
  }
  EXPECT_EQ(rows, 10);
}

}  // namespace
}  // namespace warpscope::validation
