// How bandwidth is divided, and what HBM sustains.
#include "model/memory/bandwidth.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "model/memory/transaction.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::memory {
namespace {

using test::test_config;

double bytes_per_clk(std::int64_t units_per_byte) {
  return static_cast<double>(kPortUnits * kShareScale) / static_cast<double>(units_per_byte);
}

TEST(HbmEfficiency, PassesThroughTheThreePointsOfTheConfiguration) {
  const hw::Hbm hbm = test_config().hbm;
  EXPECT_NEAR(hbm_efficiency(hbm, 0), hbm.read_efficiency, 1e-12);
  EXPECT_NEAR(hbm_efficiency(hbm, 0.5), hbm.mixed_efficiency, 1e-12);
  EXPECT_NEAR(hbm_efficiency(hbm, 1), hbm.write_efficiency, 1e-12);
}

TEST(HbmEfficiency, FallsTowardsTheMixFromBothSides) {
  const hw::Hbm hbm = test_config().hbm;
  for (int i = 0; i < 50; ++i) {
    if (i < 45) {
      EXPECT_GT(hbm_efficiency(hbm, i / 100.0), hbm_efficiency(hbm, (i + 1) / 100.0)) << i;
    }
    const double write_fraction = i / 100.0;
    const double read_side = 1 / hbm_efficiency(hbm, write_fraction);
    const double write_side = 1 / hbm_efficiency(hbm, 1 - write_fraction);
    EXPECT_NEAR(write_side - read_side,
                (1 / hbm.write_efficiency - 1 / hbm.read_efficiency) * (1 - 2 * write_fraction), 1e-9);
  }
}

TEST(HbmEfficiency, FractionsOutsideOfZeroToOneAreClamped) {
  const hw::Hbm hbm = test_config().hbm;
  EXPECT_EQ(hbm_efficiency(hbm, -0.1), hbm_efficiency(hbm, 0));
  EXPECT_EQ(hbm_efficiency(hbm, 1.1), hbm_efficiency(hbm, 1));
}

TEST(BandwidthShare, IsEqualForAllSmsWithWork) {
  const hw::HwConfig config = test_config();
  const BandwidthShare share = bandwidth_share(config, 1000, 3, 0);
  EXPECT_NEAR(bytes_per_clk(share.l2_units_per_byte), config.l2.bytes_per_clk / 3.0, 0.01);
  // 60 GB/s at 1 GHz are 60 bytes per clock, of which 0.9 are sustained.
  EXPECT_NEAR(bytes_per_clk(share.dram_read_units_per_byte), 60 * 0.9 / 3, 0.01);
}

TEST(BandwidthShare, LookupsAreDividedLikeBytes) {
  const hw::HwConfig config = test_config();
  EXPECT_NEAR(bytes_per_clk(bandwidth_share(config, 1000, 3, 0).l2_units_per_line),
              config.l2.lines_per_clk / 3.0, 0.001);
  EXPECT_NEAR(bytes_per_clk(bandwidth_share(config, 1000, 1, 0).l2_units_per_line), config.l2.lines_per_clk,
              0.001);
}

TEST(BandwidthShare, OneSmIsCappedByItsOwnPort) {
  hw::HwConfig config = test_config();
  config.hbm.peak_gb_per_s = 1000;
  const BandwidthShare share = bandwidth_share(config, 1000, 1, 0);
  EXPECT_NEAR(bytes_per_clk(share.l2_units_per_byte), config.l2.sm_bytes_per_clk, 0.01);
  EXPECT_NEAR(bytes_per_clk(share.dram_read_units_per_byte), config.l2.sm_bytes_per_clk, 0.01);
}

TEST(BandwidthShare, HbmBytesPerCycleGrowAsTheClockFalls) {
  const hw::HwConfig config = test_config();
  EXPECT_NEAR(bytes_per_clk(bandwidth_share(config, 500, 3, 1).dram_write_units_per_byte), 120 * 0.8 / 3,
              0.01);
  EXPECT_NEAR(bytes_per_clk(bandwidth_share(config, 500, 3, 1).l2_units_per_byte), 64, 0.01);
}

TEST(BandwidthShare, GrowsWithWhatOthersLeaveUnused) {
  const hw::HwConfig config = test_config();
  const auto dram = [&](double utilisation) {
    return bytes_per_clk(bandwidth_share(config, 1000, 3, 0, utilisation).dram_read_units_per_byte);
  };
  EXPECT_NEAR(dram(1), 18, 0.01);
  EXPECT_NEAR(dram(0.75), 24, 0.01);
  EXPECT_NEAR(dram(0.5), 36, 0.01);
  EXPECT_NEAR(dram(1.0 / 3), 54, 0.01) << "all that HBM sustains";
  EXPECT_EQ(dram(0.1), dram(1.0 / 3)) << "there is nobody left to take from";
  EXPECT_EQ(dram(0), dram(1.0 / 3));
  EXPECT_EQ(dram(1.2), dram(1));
}

TEST(BandwidthShare, OfAnIdleHbmIsCappedByThePortOfTheSm) {
  hw::HwConfig config = test_config();
  config.hbm.peak_gb_per_s = 200;
  const BandwidthShare share = bandwidth_share(config, 1000, 3, 0, 0.5);
  EXPECT_NEAR(bytes_per_clk(share.dram_read_units_per_byte), 96, 0.01) << "not 180 / 3 / 0.5 = 120";
  EXPECT_EQ(share.dram_read_units_per_byte, share.port_units_per_byte);
}

TEST(BandwidthShare, UtilisationOfHbmLeavesTheL2Alone) {
  const hw::HwConfig config = test_config();
  const BandwidthShare busy = bandwidth_share(config, 1000, 3, 0.5, 1);
  const BandwidthShare idle = bandwidth_share(config, 1000, 3, 0.5, 0.25);
  EXPECT_EQ(busy.l2_units_per_byte, idle.l2_units_per_byte);
  EXPECT_EQ(busy.port_units_per_byte, idle.port_units_per_byte);
  EXPECT_EQ(idle.dram_write_units_per_byte, idle.dram_read_units_per_byte);
}

TEST(BandwidthShare, NoActiveSmIsTreatedAsOne) {
  EXPECT_EQ(bandwidth_share(test_config(), 1000, 0, 0), bandwidth_share(test_config(), 1000, 1, 0));
}

TEST(PortUnits, AreRoundedUp) {
  EXPECT_EQ(port_units(0, 5 * kShareScale), 0);
  EXPECT_EQ(port_units(3, 5 * kShareScale), 15);
  EXPECT_EQ(port_units(3, 5 * kShareScale + 1), 16);
  EXPECT_EQ(port_units(1, 1), 1);
}

TEST(HbmWait, FollowsTheMeasuredCurveForMixedTraffic) {
  const hw::Hbm hbm = test_config().hbm;
  const auto wait = [&](double utilisation, double writes) {
    return hbm_wait_cycles(hbm, 1000, utilisation, writes);
  };
  const double idle = hbm.page_wait_ns;
  EXPECT_EQ(wait(0, 0.5), idle);
  EXPECT_EQ(wait(0.125, 0.5), idle + hbm.wait_quarter_ns / 2);
  EXPECT_EQ(wait(0.25, 0.5), idle + hbm.wait_quarter_ns);
  EXPECT_EQ(wait(0.5, 0.5), idle + hbm.wait_half_ns);
  EXPECT_EQ(wait(hbm.mixed_efficiency, 0.5), idle + hbm.wait_full_ns);
  EXPECT_EQ(wait(1, 0.5), idle + hbm.wait_full_ns);
}

TEST(HbmWait, ReadsAloneWaitForTheirPageOnly) {
  const hw::Hbm hbm = test_config().hbm;
  EXPECT_EQ(hbm_wait_cycles(hbm, 1000, 0.5, 0), hbm.page_wait_ns);
  EXPECT_EQ(hbm_wait_cycles(hbm, 2000, 0.5, 1), 2 * hbm.page_wait_ns);
}

}  // namespace
}  // namespace warpscope::memory
