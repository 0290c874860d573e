#include "tests/validation/loaded_latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "experiments/csv/csv.hpp"

namespace warpscope::validation {
namespace {

/// Cycles that the measured loop takes to read out a tile (loaded_latency.md).
double read_out_cycles(int tile_bytes) {
  const std::map<int, double> cycles = {{2048, 28}, {4096, 30}, {8192, 33}, {16384, 38}};
  return cycles.at(tile_bytes);
}

/// Of the loop that only writes, besides its pause: period less pause where nothing is saturated.
constexpr int kWriteLoopCycles = 390;
constexpr int kShortestPause = 120;
constexpr std::int64_t kCachedBytes = 16 << 20;

Stores stores_of(const std::string& mode) {
  return mode == "read" ? Stores::none : mode == "in place" ? Stores::in_place : Stores::elsewhere;
}

double moved_bytes_per_cycle(const LoadedLatencyRow& row) {
  const MemoryLoop& loop = row.loop;
  const int moved = (loop.loads ? 1 : 0) + (loop.stores != Stores::none ? 1 : 0);
  return moved * loop.tile_bytes * loop.sms * loop.ctas_per_sm / row.measured_period_cycles;
}

}  // namespace

std::vector<LoadedLatencyRow> load_l2_loops(const std::filesystem::path& path,
                                            const std::vector<int>& delays) {
  constexpr double kReadOutCycles = 8;  // of the loop that loads nothing
  constexpr double kBarrierCycles = 20;
  const experiments::CsvTable table = experiments::read_csv(path.string());
  std::vector<LoadedLatencyRow> rows;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto text = [&](const char* column) { return record.fields[table.column(column)]; };
    const auto number = [&](const char* column) { return std::stod(text(column)); };
    if (text("mode") == "nothing" ||
        std::ranges::find(delays, std::stoi(text("delay_cycles"))) == delays.end()) {
      continue;
    }
    LoadedLatencyRow row;
    MemoryLoop& loop = row.loop;
    loop.tile_bytes = std::stoi(text("tile_bytes"));
    loop.ctas_per_sm = std::stoi(text("ctas_per_sm"));
    loop.sms = std::stoi(text("sms"));
    loop.stores = stores_of(text("mode"));
    loop.footprint_bytes = kCachedBytes;
    row.name = fmt::format("l2/{}/{}/{}x{}/{}", text("mode"), loop.tile_bytes, loop.ctas_per_sm, loop.sms,
                           text("delay_cycles"));
    const double warps =
        (number("warp0_mean") + number("warp1_mean") + number("warp2_mean") + number("warp3_mean")) / 4;
    row.measured_period_cycles = number("period_cycles");
    row.measured_latency_cycles = warps - kReadOutCycles;
    loop.think_cycles = static_cast<int>(row.measured_period_cycles - warps - kBarrierCycles);
    row.moved_bytes_per_cycle = moved_bytes_per_cycle(row);
    rows.push_back(row);
  }
  return rows;
}

std::vector<LoadedLatencyRow> load_loaded_latency(const std::filesystem::path& path,
                                                  const std::vector<int>& delays) {
  const experiments::CsvTable table = experiments::read_csv(path.string());
  std::vector<LoadedLatencyRow> rows;
  std::size_t turn = 0;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto text = [&](const char* column) { return record.fields[table.column(column)]; };
    const auto number = [&](const char* column) { return std::stod(text(column)); };
    const std::string test = text("test");
    const bool writes_only = test == "writeonly";
    if ((test != "dram" && !writes_only) || text("start_phase") != "random" ||
        std::ranges::find(delays, std::stoi(text("delay_cycles"))) == delays.end()) {
      continue;
    }
    LoadedLatencyRow row;
    MemoryLoop& loop = row.loop;
    loop.tile_bytes = std::stoi(text("tile_bytes"));
    loop.ctas_per_sm = std::stoi(text("ctas_per_sm"));
    loop.sms = std::stoi(text("sms"));
    if (loop.ctas_per_sm > 1 && loop.sms < 132) {
      continue;  // the model spreads these CTAs over more SMs
    }
    const std::string mode = text("mode");
    loop.loads = !writes_only;
    loop.stores = stores_of(mode);
    row.name = fmt::format("{}/{}/{}/{}x{}/{}", test, mode, loop.tile_bytes, loop.ctas_per_sm, loop.sms,
                           text("delay_cycles"));
    row.measured_period_cycles = number("period_cycles");
    if (writes_only) {
      loop.think_cycles = std::max(kShortestPause, std::stoi(text("delay_cycles"))) + kWriteLoopCycles;
    } else {
      row.measured_latency_cycles =
          (number("warp0_mean") + number("warp3_mean")) / 2 - read_out_cycles(loop.tile_bytes);
      loop.think_cycles = static_cast<int>(row.measured_period_cycles - number("cta_mean"));
    }
    row.moved_bytes_per_cycle = moved_bytes_per_cycle(row);
    row.chosen_on = turn++ % 2 == 0;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace warpscope::validation
