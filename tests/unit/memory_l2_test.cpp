// L2 and HBM over TLM.
#include "model/memory/l2.hpp"

#include <gtest/gtest.h>
#include <tlm_utils/simple_initiator_socket.h>

#include "model/memory/hbm.hpp"
#include "model/sim/simulation_context.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::memory {
namespace {

using test::test_config;

struct Requester : sc_core::sc_module {
  explicit Requester(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    payload.set_extension(&transaction);
  }
  ~Requester() override { payload.clear_extension(&transaction); }

  Response send(AccessKind kind, std::uint16_t tensor, std::int64_t segment, std::int64_t offset,
                std::uint32_t bytes) {
    payload.set_command(kind == AccessKind::read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
    transaction.kind = kind;
    transaction.tensor = tensor;
    transaction.place.segment = segment;
    transaction.place.offset = offset;
    transaction.place.bytes = bytes;
    transaction.response = {};
    sc_core::sc_time delay;
    socket->b_transport(payload, delay);
    EXPECT_EQ(payload.get_response_status(), tlm::TLM_OK_RESPONSE);
    EXPECT_EQ(static_cast<std::int64_t>(delay.value()), transaction.response.latency_cycles);
    return transaction.response;
  }

  tlm_utils::simple_initiator_socket<Requester> socket;
  tlm::tlm_generic_payload payload;
  Transaction transaction;
};

/// Tensors 0 and 1 of two segments of 1000 bytes, tensor 2 of 4 MiB.
class L2Test : public testing::Test {
 protected:
  static TensorExtent extent(std::int64_t segments, std::int64_t segment_bytes) {
    TensorExtent result;
    result.segments = segments;
    result.segment_bytes = segment_bytes;
    return result;
  }
  L2Test() {
    requester_.socket.bind(l2_.sm_side);
    l2_.hbm_side.bind(hbm_.socket);
    // Sockets are ready after elaboration; that nothing happens is no reason to warn.
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    begin(false);
  }
  void begin(bool warm) {
    l2_.begin_launch(1000, warm);
    hbm_.set_sm_clock(1000);
    hbm_.reset_traffic();
  }

  sim::SimulationContext context_;
  hw::HwConfig config_ = test_config();
  std::vector<TensorExtent> tensors_ = {extent(2, 1000), extent(2, 1000), extent(1, 4 << 20)};
  Requester requester_{"requester"};
  L2 l2_{"l2", config_, tensors_};
  Hbm hbm_{"hbm", config_, 3};
};

TEST_F(L2Test, MissTakesTheLatencyOfHbmOnTopOfAHit) {
  EXPECT_EQ(requester_.send(AccessKind::read, 2, 0, 0, 512).latency_cycles,
            config_.l2.hit_latency_cycles + config_.hbm.latency_ns);
  requester_.transaction.time_cycles = 1000;
  EXPECT_EQ(requester_.send(AccessKind::read, 2, 0, 0, 512).latency_cycles, config_.l2.hit_latency_cycles);
}

TEST_F(L2Test, HitsTakeNoShareOfHbm) {
  const Response miss = requester_.send(AccessKind::read, 2, 0, 0, 512);
  const Response hit = requester_.send(AccessKind::read, 2, 0, 0, 512);
  EXPECT_GT(miss.dram_port_units, 0);
  EXPECT_EQ(hit.dram_port_units, 0);
  EXPECT_EQ(hit.l2_port_units, miss.l2_port_units);
}

TEST_F(L2Test, TrafficIsCountedByTensor) {
  requester_.send(AccessKind::read, 2, 0, 0, 1024);
  requester_.send(AccessKind::read, 2, 0, 512, 1024);
  requester_.send(AccessKind::write, 1, 0, 0, 256);
  EXPECT_EQ(l2_.traffic()[2].read_bytes, 2048U);
  EXPECT_EQ(l2_.traffic()[2].read_hit_bytes, 512U);
  EXPECT_EQ(hbm_.traffic()[2].read_bytes, 1536U);
  EXPECT_EQ(l2_.traffic()[1].write_bytes, 256U);
  EXPECT_EQ(l2_.traffic()[0].read_bytes, 0U);
  EXPECT_EQ(hbm_.traffic()[1].write_bytes, 0U);
}

TEST_F(L2Test, CompanionsCountAndChangeNoResponse) {
  requester_.transaction.companions = {{.offset = 4096, .bytes = 512, .accesses = 3},
                                       {.offset = 4352, .bytes = 512, .accesses = 1, .again_bytes = 64}};
  EXPECT_EQ(requester_.send(AccessKind::read, 2, 0, 0, 512).dram_bytes, 512);
  EXPECT_EQ(l2_.traffic()[2].read_bytes, 512U + 3U * 512 + 512 + 64);
  EXPECT_EQ(l2_.traffic()[2].read_hit_bytes, 2U * 512 + 256 + 64) << "each byte misses once";
  EXPECT_EQ(hbm_.traffic()[2].read_bytes, 512U + 512 + 256);
  EXPECT_EQ(requester_.send(AccessKind::write, 2, 0, 8192, 64).dram_bytes, 0);
  EXPECT_EQ(l2_.traffic()[2].write_bytes, 64U + 3U * 512 + 512);
  EXPECT_EQ(l2_.dirty_bytes(), 64 + 512 + 256);
}

// Data takes 151 cycles from HBM, a page up to 30 more; ages are told in steps of 64 cycles.
TEST_F(L2Test, OfSmsThatAskForTheSameOneBringsItAndLaterOnesWaitForIt) {
  constexpr std::int64_t kNextTurn = 16384;
  requester_.transaction.place.accesses = 3;
  requester_.transaction.place.apart_cycles = 70;
  const auto of_turn = [&](std::int64_t turn) {
    return requester_.send(AccessKind::read, 2, 0, turn * kNextTurn, 512);
  };
  EXPECT_EQ(of_turn(0).latency_cycles, 211 + 151);
  EXPECT_GT(of_turn(3).dram_port_units, 0) << "the first one again";
  const Response second = of_turn(1);
  EXPECT_EQ(second.latency_cycles, 211 + 151 - 64);
  EXPECT_EQ(second.dram_bytes, 512);
  EXPECT_EQ(second.dram_port_units, 0) << "another SM's share of HBM is taken";
  EXPECT_EQ(of_turn(2).latency_cycles, 211 + 151 - 128);
  requester_.transaction.place.apart_cycles = 90;
  EXPECT_EQ(of_turn(5).dram_bytes, 512) << "180 of 181 cycles have passed";
  requester_.transaction.place.apart_cycles = 91;
  const Response arrived = of_turn(8);
  EXPECT_EQ(arrived.dram_bytes, 0) << "182 have";
  EXPECT_EQ(arrived.latency_cycles, 211);
  EXPECT_EQ(hbm_.traffic()[2].read_bytes, 6U * 512) << "each is brought once";
}

TEST_F(L2Test, SectorsComeWhole) {
  EXPECT_EQ(requester_.send(AccessKind::read, 2, 0, 100, 56).dram_bytes, 2 * 32);
  EXPECT_EQ(hbm_.traffic()[2].read_bytes, 2U * 32) << "bytes 100 to 155 lie in two sectors";
  EXPECT_EQ(l2_.traffic()[2].read_bytes, 2U * 32);
  EXPECT_EQ(requester_.send(AccessKind::read, 2, 0, 159, 2).dram_bytes, 32) << "one of the two is there";
  EXPECT_EQ(l2_.traffic()[2].read_bytes, 4U * 32);
  EXPECT_EQ(l2_.traffic()[2].read_hit_bytes, 32U);
}

TEST_F(L2Test, SegmentsDoNotShareSectors) {
  requester_.send(AccessKind::read, 0, 0, 896, 104);
  const Response other = requester_.send(AccessKind::read, 0, 1, 0, 24);
  EXPECT_EQ(other.dram_bytes, 32) << "byte 1000 of a packed tensor would lie in a sector that is there";
}

// One SM draws 96 bytes per clock of the L2 and 54 of HBM, 0.9 of 60 GB/s at 1 GHz.
TEST_F(L2Test, MissSaysAllThatItCosts) {
  const Response miss = requester_.send(AccessKind::read, 2, 0, 0, 512);
  EXPECT_EQ(miss.sm_port_units, 342) << "512 x 64 / 96, rounded up";
  EXPECT_EQ(miss.l2_port_units, 342);
  EXPECT_EQ(miss.l2_slack_units, 1366) << "2048 x 64 / 96";
  EXPECT_EQ(miss.dram_port_units, 607) << "512 x 64 / 54";
  EXPECT_EQ(miss.dram_slack_units, 2428) << "2048 x 64 / 54";
  EXPECT_EQ(miss.dram_bytes, 512);
  EXPECT_EQ(miss.page_wait_cycles, 30);
}

// An SM's share is 64 bytes and one line per clock.
TEST_F(L2Test, LooksUpEveryLineOfAScatteredAccess) {
  l2_.set_active_sms(3);
  const auto port_units = [&](int lines) {
    requester_.transaction.lines = lines;
    return requester_.send(AccessKind::read, 2, 0, 0, 1024).l2_port_units;
  };
  const std::int32_t bytes_alone = port_units(0);
  EXPECT_EQ(port_units(8), bytes_alone);
  EXPECT_NEAR(port_units(32), 2 * bytes_alone, 1);
  EXPECT_NEAR(port_units(32), 32 * kPortUnits, 1);
}

TEST_F(L2Test, HitNeitherWaitsForPagesNorTakesHbm) {
  requester_.send(AccessKind::read, 2, 0, 0, 512);
  requester_.transaction.time_cycles = 1000;
  const Response hit = requester_.send(AccessKind::read, 2, 0, 0, 512);
  EXPECT_EQ(hit, (Response{.latency_cycles = 211,
                           .l2_port_units = 342,
                           .dram_port_units = 0,
                           .l2_slack_units = 1366,
                           .dram_slack_units = 0,
                           .sm_port_units = 342,
                           .dram_bytes = 0,
                           .page_wait_cycles = 0}));
}

// 151 cycles of HBM's latency and 30 for a page: the same waits as for the one that asked, less the age of
// his request in steps of 64.
TEST_F(L2Test, DataOnItsWayIsWaitedForWithoutTakingHbm) {
  const auto waits = [&](std::int64_t time) {
    requester_.transaction.time_cycles = time;
    const Response response = requester_.send(AccessKind::read, 2, 0, 0, 512);
    EXPECT_EQ(response.dram_port_units, time == 0 ? 607 : 0);
    return std::pair(response.latency_cycles - config_.l2.hit_latency_cycles,
                     response.dram_bytes > 0 ? response.page_wait_cycles : 0);
  };
  EXPECT_EQ(waits(0), std::pair(151, 30));
  EXPECT_EQ(waits(63), std::pair(151, 30));
  EXPECT_EQ(waits(64), std::pair(151 - 64, 30));
  EXPECT_EQ(waits(180), std::pair(151 - 128, 30));
  EXPECT_EQ(waits(181), std::pair(0, 0));
}

TEST_F(L2Test, WritesTakeHbmWithoutWaitingForIt) {
  const Response write = requester_.send(AccessKind::write, 2, 0, 0, 512);
  EXPECT_EQ(write.dram_port_units, 607);
  EXPECT_EQ(write.dram_slack_units, 0);
  EXPECT_EQ(write.dram_bytes, 0);
  EXPECT_EQ(write.page_wait_cycles, 0);
}

/// The load that HBM is asked for, epoch by epoch, and what a read costs then.
class L2Load : public L2Test {
 protected:
  static constexpr std::int64_t kEpoch = 8192;
  static constexpr std::int64_t kPeakBytes = 60 * kEpoch;  // at 60 bytes per clock

  L2Load() { l2_.set_active_sms(3); }
  void read_in_epoch(std::int64_t epoch, std::int64_t bytes) {
    requester_.transaction.time_cycles = epoch * kEpoch;
    requester_.send(AccessKind::read, 2, 0, next_, static_cast<std::uint32_t>(bytes));
    next_ += bytes;
  }
  /// HBM time of a sector that misses.
  std::int32_t sector_units(std::int64_t epoch) {
    requester_.transaction.time_cycles = epoch * kEpoch + kEpoch - 1;
    next_ += kSectorBytes;
    return requester_.send(AccessKind::read, 2, 0, next_ - kSectorBytes, kSectorBytes).dram_port_units;
  }
  /// The same at `level` thirty-seconds of peak, of which reads sustain 0.9.
  std::int32_t units_at(double level) {
    return port_units(kSectorBytes,
                      bandwidth_share(config_, 1000, 3, 0, level / 32 / 0.9).dram_read_units_per_byte);
  }

 private:
  std::int64_t next_ = 0;
};

TEST_F(L2Load, IsTakenForFullUntilItIsKnown) {
  EXPECT_EQ(sector_units(0), 114) << "32 x 64 / 18, rounded up";
  EXPECT_EQ(sector_units(1), 114);
  EXPECT_EQ(sector_units(2), 38) << "of an idle HBM one SM can have all, 54 bytes per clock";
}

TEST_F(L2Load, TakesEffectTwoEpochsLater) {
  read_in_epoch(0, kPeakBytes / 2);
  EXPECT_EQ(sector_units(1), 114);
  EXPECT_EQ(sector_units(2), 64) << "32 x 64 / (18 x 0.9 / 0.5)";
  EXPECT_EQ(units_at(16), 64);
}

TEST_F(L2Load, LevelIsHeldUntilTheLoadMovesByAWholeStep) {
  read_in_epoch(0, kPeakBytes / 2);
  // The mean of both epochs is three quarters of a step higher.
  read_in_epoch(1, kPeakBytes / 2 + 2 * kPeakBytes * 3 / 4 / 32);
  EXPECT_EQ(sector_units(2), units_at(16));
  EXPECT_EQ(sector_units(3), units_at(16));
}

TEST_F(L2Load, LevelFollowsAWholeStep) {
  read_in_epoch(0, kPeakBytes / 2);
  read_in_epoch(1, kPeakBytes / 2 + 2 * kPeakBytes * 5 / 4 / 32);
  EXPECT_EQ(sector_units(2), units_at(16));
  ASSERT_NE(units_at(17), units_at(16));
  EXPECT_EQ(sector_units(3), units_at(17)) << "the nearest level to 17.25";
}

TEST_F(L2Load, GoesOnWhereSmsLeaveOutTheirRequests) {
  for (std::int64_t epoch = 0; epoch < 4; ++epoch) {
    read_in_epoch(epoch, kPeakBytes / 2);
  }
  const L2::Load mean = l2_.mean_load(kEpoch, 4 * kEpoch);
  EXPECT_EQ(mean.read_bytes, kPeakBytes / 2);
  EXPECT_EQ(mean.write_bytes, 0U);
  l2_.add_load(mean, 0.25, 4 * kEpoch, 100 * kEpoch);
  l2_.add_load(mean, 0.75, 4 * kEpoch, 100 * kEpoch);
  EXPECT_EQ(sector_units(90), units_at(16));
  EXPECT_EQ(sector_units(110), 38) << "idle again";
}

TEST_F(L2Test, WritesReachHbmOnlyWhenTheirBlockIsEvicted) {
  requester_.send(AccessKind::write, 1, 0, 0, 512);
  EXPECT_EQ(l2_.dirty_bytes(), 512);
  EXPECT_EQ(hbm_.traffic()[1].write_bytes, 0U);
  for (std::int64_t offset = 0; offset < (4 << 20); offset += 4096) {
    requester_.send(AccessKind::read, 2, 0, offset, 4096);
  }
  EXPECT_EQ(hbm_.traffic()[1].write_bytes, 512U);
  EXPECT_EQ(l2_.dirty_bytes(), 0);
}

TEST_F(L2Test, ReductionsDirtyLinesAsWritesDo) {
  requester_.send(AccessKind::reduce, 1, 0, 0, 128);
  EXPECT_EQ(l2_.dirty_bytes(), 128);
  EXPECT_EQ(l2_.traffic()[1].write_bytes, 128U);
}

TEST_F(L2Test, ColdLaunchForgetsWarmLaunchKeeps) {
  requester_.send(AccessKind::read, 2, 0, 0, 512);
  begin(true);
  EXPECT_EQ(requester_.send(AccessKind::read, 2, 0, 0, 512).dram_port_units, 0);
  EXPECT_EQ(hbm_.traffic()[2].read_bytes, 0U);
  begin(false);
  EXPECT_GT(requester_.send(AccessKind::read, 2, 0, 0, 512).dram_port_units, 0);
  EXPECT_EQ(l2_.traffic()[2].read_bytes, 512U) << "counted since the launch began";
}

}  // namespace
}  // namespace warpscope::memory
