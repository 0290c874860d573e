// Latency and bandwidth of the loop of loaded_latency.md: both come from the queues of the model, no row has
// a value of its own. Bounds are what the model reaches; loaded_latency_report prints all rows.
#include "tests/validation/loaded_latency.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/hw/config_loader.hpp"

namespace warpscope::validation {
namespace {

struct Bounds {
  const char* rows;  ///< beginning of their names
  int sms;
  int delay_cycles;
  double latency_mean, latency_worst;  ///< of the size of the difference
  double rate_mean, rate_worst;
};

class LoadedLatency : public testing::TestWithParam<Bounds> {};

TEST_P(LoadedLatency, ModelAgreesWithMeasurement) {
  const Bounds& bounds = GetParam();
  const hw::HwConfig config = hw::load("h200-sxm-141gb", {}, WARPSCOPE_SOURCE_DIR "/hwconfigs").config;
  double latency_sum = 0;
  double rate_sum = 0;
  int rows = 0;
  for (const LoadedLatencyRow& row :
       load_loaded_latency(WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-h200/loaded_latency.csv",
                           {bounds.delay_cycles})) {
    if (!row.name.starts_with(bounds.rows) || row.loop.sms != bounds.sms) {
      continue;
    }
    const LoopTimes times = run_memory_loop(config, row.loop);
    const double rate = std::abs(row.measured_period_cycles / times.period_cycles - 1);
    const double latency = std::abs(times.latency_cycles / row.measured_latency_cycles - 1);
    EXPECT_LE(latency, bounds.latency_worst) << row.name << ": " << times.latency_cycles << ", measured "
                                             << row.measured_latency_cycles << " cycles";
    EXPECT_LE(rate, bounds.rate_worst) << row.name;
    latency_sum += latency;
    rate_sum += rate;
    ++rows;
  }
  ASSERT_GT(rows, 0);
  EXPECT_LE(latency_sum / rows, bounds.latency_mean);
  EXPECT_LE(rate_sum / rows, bounds.rate_mean);
}

INSTANTIATE_TEST_SUITE_P(H200, LoadedLatency,
                         testing::Values(Bounds{"dram/read/", 132, 0, 0.08, 0.15, 0.05, 0.12},
                                         Bounds{"dram/read+write", 132, 0, 0.085, 0.17, 0.05, 0.12},
                                         Bounds{"dram/in place", 132, 1000, 0.08, 0.16, 0.05, 0.12},
                                         Bounds{"dram/read/", 1, 1000, 0.08, 0.15, 0.05, 0.12}));

// Lines of a tile lie in different slices: however many SMs read it together, they hardly wait for one
// another (shared_tiles.csv: 477 cycles for 458 where the L2 holds it, 926 for 1007 where HBM does, as nobody
// is first for all lines).
TEST(SharedTiles, AllSmsHaveThemAsSoonAsOneAlone) {
  const hw::HwConfig config = hw::load("h200-sxm-141gb", {}, WARPSCOPE_SOURCE_DIR "/hwconfigs").config;
  const auto latency_cycles = [&](int sms, std::int64_t footprint_bytes) {
    return run_memory_loop(config, {.tile_bytes = 16 << 10,
                                    .sms = sms,
                                    .footprint_bytes = footprint_bytes,
                                    .shared = true,
                                    .think_cycles = 600})
        .latency_cycles;
  };
  constexpr std::int64_t kEightTiles = 128 << 10;
  EXPECT_NEAR(latency_cycles(132, kEightTiles) / latency_cycles(1, kEightTiles), 477 / 458.0, 0.06);
  EXPECT_NEAR(latency_cycles(132, 0) / latency_cycles(1, 0), 926 / 1007.0, 0.06);
}

}  // namespace
}  // namespace warpscope::validation
