// Sweeps of reductions over lines that HBM has to bring, against
// experiments/reference/measured-h200/reductions_cold.csv.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>

#include "experiments/csv/csv.hpp"
#include "model/gpu/simulate.hpp"
#include "model/hw/config_loader.hpp"
#include "tests/validation/program_builder.hpp"

namespace warpscope::validation {
namespace {

constexpr int kLineBytes = 128;
constexpr int kSectorBytes = 32;
constexpr std::uint32_t kCtas = 132;
constexpr std::uint32_t kWarps = 32;
constexpr std::int64_t kLinesOfTurn = std::int64_t{kCtas} * kWarps;

std::int64_t turns(int mbytes) {
  return (std::int64_t{mbytes} << 20) / kLineBytes / kLinesOfTurn;
}

/// All warps of the chip, side by side, add to the first `sectors` of each line of so many bytes.
trace::Trace sweep(int mbytes, int sectors) {
  ProgramBuilder builder("sweep");
  builder.begin_loop(0);
  trace::AffineIndex offset;
  offset.per_block[0] = std::int64_t{kWarps} * kLineBytes;
  offset.per_warp = kLineBytes;
  offset.per_iteration[0] = kLinesOfTurn * kLineBytes;
  builder.add_global(trace::Opcode::RED_ADD_F32, {}, {reg(2, 2), reg(4)},
                     static_cast<std::uint32_t>(sectors * kSectorBytes), offset);
  builder.end_loop();
  const auto trips = static_cast<std::uint32_t>(turns(mbytes));
  trace::Trace trace;
  trace.launches = {make_launch("sweep", kCtas, kWarps, builder.finish(), trips)};
  trace.tensors = {{"sums", trace::TensorKind::scratch, 1, turns(mbytes) * kLinesOfTurn * kLineBytes}};
  return trace;
}

/// What makes a sweep over more lines longer.
double picoseconds_per_line(const std::map<int, double>& picoseconds, int from, int to) {
  return (picoseconds.at(to) - picoseconds.at(from)) /
         static_cast<double>((turns(to) - turns(from)) * kLinesOfTurn);
}

// Up to 24 MB nothing is written back: these gave the number of sectors that reductions wait for. With more
// the L2 writes back what it reads for them, which gave nothing.
TEST(ReductionsToHbm, TakeAsLongAsMeasured) {
  hw::HwConfig config = hw::load("h200-sxm-141gb", {}, WARPSCOPE_SOURCE_DIR "/hwconfigs").config;
  config.l2.left_dirty_bytes = 0;
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-h200/reductions_cold.csv");
  const std::map<std::string, int> sectors_of = {{"0000ffff", 2}, {"ffffffff", 4}};
  for (const auto& [lane_mask, sectors] : sectors_of) {
    std::map<int, double> measured;
    std::map<int, double> ours;
    for (const experiments::CsvRecord& row : table.rows) {
      const auto field = [&](const char* column) { return row.fields.at(table.column(column)); };
      if (field("kind") == "red" && field("l2") == "clean" && field("lane_mask") == lane_mask) {
        constexpr double kPicosecondsPerMs = 1e9;
        measured[std::stoi(field("mbytes"))] = std::stod(field("ms")) * kPicosecondsPerMs;
      }
    }
    for (const int mbytes : {8, 24, 64, 96}) {
      gpu::SimulationOptions options;
      options.mode = gpu::Mode::detailed;
      ours[mbytes] = 1e6 * gpu::simulate(config, sweep(mbytes, sectors), options).launches.at(0).time_us;
    }
    for (const auto& [from, to] : std::map<int, int>{{8, 24}, {64, 96}}) {
      const double longer = picoseconds_per_line(measured, from, to);
      EXPECT_NEAR(picoseconds_per_line(ours, from, to) / longer, 1, 0.08)
          << sectors << " sectors, " << from << " to " << to << " MB: " << longer << " ps";
    }
  }
}

}  // namespace
}  // namespace warpscope::validation
