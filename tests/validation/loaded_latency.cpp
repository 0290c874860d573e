#include "tests/validation/loaded_latency.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>

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

/// A field of a row by the name of its column.
class Fields {
 public:
  Fields(const experiments::CsvTable& table, const experiments::CsvRecord& record)
      : table_(table), record_(record) {}
  const std::string& text(const char* column) const { return record_.fields[table_.column(column)]; }
  double number(const char* column) const { return std::stod(text(column)); }
  bool has_pause_of(const std::vector<int>& delays) const {
    return std::ranges::find(delays, std::stoi(text("delay_cycles"))) != delays.end();
  }
  /// The loop's tile, CTAs and what it stores; it loads.
  MemoryLoop loop() const {
    MemoryLoop loop;
    loop.tile_bytes = std::stoi(text("tile_bytes"));
    loop.ctas_per_sm = std::stoi(text("ctas_per_sm"));
    loop.sms = std::stoi(text("sms"));
    loop.stores = stores_of(text("mode"));
    return loop;
  }
  std::string name(std::string_view test) const {
    return fmt::format("{}/{}/{}/{}x{}/{}", test, text("mode"), text("tile_bytes"), text("ctas_per_sm"),
                       text("sms"), text("delay_cycles"));
  }

 private:
  const experiments::CsvTable& table_;
  const experiments::CsvRecord& record_;
};

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
    const Fields fields(table, record);
    if (fields.text("mode") == "nothing" || !fields.has_pause_of(delays)) {
      continue;
    }
    LoadedLatencyRow row{.name = fields.name("l2"), .loop = fields.loop()};
    row.loop.footprint_bytes = kCachedBytes;
    const double warps = (fields.number("warp0_mean") + fields.number("warp1_mean") +
                          fields.number("warp2_mean") + fields.number("warp3_mean")) /
                         4;
    row.measured_period_cycles = fields.number("period_cycles");
    row.measured_latency_cycles = warps - kReadOutCycles;
    row.loop.think_cycles = static_cast<int>(row.measured_period_cycles - warps - kBarrierCycles);
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
    const Fields fields(table, record);
    const std::string& test = fields.text("test");
    const bool writes_only = test == "writeonly";
    if ((test != "dram" && !writes_only) || fields.text("start_phase") != "random" ||
        !fields.has_pause_of(delays)) {
      continue;
    }
    LoadedLatencyRow row{.name = fields.name(test), .loop = fields.loop()};
    MemoryLoop& loop = row.loop;
    if (loop.ctas_per_sm > 1 && loop.sms < 132) {
      continue;  // the model spreads these CTAs over more SMs
    }
    loop.loads = !writes_only;
    row.measured_period_cycles = fields.number("period_cycles");
    if (writes_only) {
      loop.think_cycles = std::max(kShortestPause, std::stoi(fields.text("delay_cycles"))) + kWriteLoopCycles;
    } else {
      row.measured_latency_cycles =
          (fields.number("warp0_mean") + fields.number("warp3_mean")) / 2 - read_out_cycles(loop.tile_bytes);
      loop.think_cycles = static_cast<int>(row.measured_period_cycles - fields.number("cta_mean"));
    }
    row.moved_bytes_per_cycle = moved_bytes_per_cycle(row);
    row.chosen_on = turn++ % 2 == 0;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace warpscope::validation
