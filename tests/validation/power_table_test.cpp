// The H200's energies against the micro-kernels that they come from (power.md of the reference data).
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "experiments/csv/csv.hpp"
#include "experiments/data/error_statistics.hpp"
#include "experiments/data/number.hpp"
#include "experiments/point/point.hpp"
#include "model/gpu/power.hpp"
#include "model/hw/config_loader.hpp"

namespace warpscope::test {
namespace {

using experiments::CsvRecord;
using experiments::CsvTable;

struct Column {
  std::string_view name;
  double hw::Energy::*energy;
};

constexpr std::array kCore = {
    Column{"hmma_16816", &hw::Energy::hmma_16816_pj},
    Column{"hmma_1688", &hw::Energy::hmma_1688_pj},
    Column{"wgmma_flop", &hw::Energy::wgmma_pj_per_flop},
    Column{"ffma", &hw::Energy::ffma_pj},
    Column{"fmul", &hw::Energy::fmul_pj},
    Column{"imad", &hw::Energy::imad_pj},
    Column{"alu", &hw::Energy::alu_pj},
    Column{"xu", &hw::Energy::xu_pj},
    Column{"shuffle", &hw::Energy::shuffle_pj},
    Column{"shared_load", &hw::Energy::shared_load_pj},
    Column{"shared_load_wavefront", &hw::Energy::shared_load_wavefront_pj},
    Column{"shared_store", &hw::Energy::shared_store_pj},
    Column{"shared_store_wavefront", &hw::Energy::shared_store_wavefront_pj},
    Column{"local_wavefront", &hw::Energy::local_wavefront_pj},
    Column{"reduce", &hw::Energy::reduce_pj},
    Column{"l2_read", &hw::Energy::l2_read_pj_per_byte},
    Column{"l2_write", &hw::Energy::l2_write_pj_per_byte},
};
constexpr std::array kHbm = {
    Column{"hbm_read", &hw::Energy::hbm_read_pj_per_byte},
    Column{"hbm_write", &hw::Energy::hbm_write_pj_per_byte},
};

class PowerTable : public testing::Test {
 protected:
  /// In W, at the voltage of the highest clock.
  double watts(const CsvRecord& row, std::span<const Column> columns) const {
    constexpr double kWattsPerPicojouleAndNanosecond = 1e-3;
    double sum = 0;
    for (const Column& column : columns) {
      sum += number(table_, row, std::string(column.name) + "_per_ns") * power_.energy.*column.energy;
    }
    return sum * kWattsPerPicojouleAndNanosecond;
  }
  /// hmma_*, wgmma*: what runs on the tensor pipes, perhaps with others.
  bool is_tensor(const CsvRecord& row) const {
    const std::string name = cell(table_, row, "name");
    return name.starts_with("hmma") || name.starts_with("wgmma");
  }
  bool is_normal(const CsvRecord& row) const { return cell(table_, row, "data") == "normal"; }
  bool at_limit(const CsvRecord& row) const { return cell(table_, row, "throttle") == "1"; }

  const CsvTable table_ =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-h200/power.csv");
  const hw::HwConfig config_ = hw::load("h200-sxm-141gb", {}, experiments::config_directory()).config;
  const hw::Power power_ = config_.power;
};

TEST_F(PowerTable, GivesThePowerOfItsMicroKernels) {
  experiments::ErrorStatistics errors;
  for (const CsvRecord& row : table_.rows) {
    if (is_normal(row) && !at_limit(row)) {
      const double model = power_.static_w + watts(row, kCore) + watts(row, kHbm);
      errors.add(model / number(table_, row, "power_w") - 1, cell(table_, row, "name"));
    }
  }
  EXPECT_EQ(errors.count(), 79);
  EXPECT_LT(errors.mean(), 0.04);
  EXPECT_LT(std::abs(errors.worst()), 0.12) << errors.worst_point();
}

// Energies come from rows below the limit; rows at the limit decided two numbers, those of the voltage.
TEST_F(PowerTable, GivesThePowerOfKernelsAtTheLimit) {
  experiments::ErrorStatistics errors;
  for (const CsvRecord& row : table_.rows) {
    if (is_normal(row) && at_limit(row) && is_tensor(row)) {
      const double share = number(table_, row, "nvml_mhz") / config_.clock.max_mhz;
      const double volts = gpu::relative_voltage(power_, share);
      const double model = power_.static_w + watts(row, kCore) * volts * volts + watts(row, kHbm);
      errors.add(model / power_.limit_w - 1, cell(table_, row, "name"));
    }
  }
  EXPECT_EQ(errors.count(), 21);
  EXPECT_LT(errors.mean(), 0.05);
  EXPECT_LT(std::abs(errors.worst()), 0.10) << errors.worst_point();
}

// HMMA or HGMMA alone takes a tenth of the clock, at a fortieth of the power limit already.
TEST_F(PowerTable, TensorInstructionsLowerTheClockWhateverTheirPower) {
  for (const CsvRecord& row : table_.rows) {
    if (is_tensor(row) && !at_limit(row)) {
      const double share = number(table_, row, "effective_mhz") / number(table_, row, "nvml_mhz");
      EXPECT_NEAR(share, static_cast<double>(config_.clock.tensor_mhz) / config_.clock.max_mhz, 0.016)
          << cell(table_, row, "name");
    }
  }
}

}  // namespace
}  // namespace warpscope::test
