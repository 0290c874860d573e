// How long hits in the L2 take.
#include "model/memory/hit_latency.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "model/memory/server.hpp"
#include "tests/support/test_config.hpp"

namespace warpscope::memory {
namespace {

struct Spread {
  double least = 1e9;
  double mean = 0;
  double most = 0;
};

/// Of pieces of so many lines each, all over a tensor, in cycles.
Spread spread_of(const HitLatency& hit, std::uint16_t lines) {
  constexpr int kPieces = 4000;
  Spread spread;
  for (int i = 0; i < kPieces; ++i) {
    Piece piece;
    piece.key = static_cast<std::uint64_t>(i);
    piece.lines = lines;
    const double cycles = static_cast<double>(hit.units(piece)) / kQueueUnits;
    spread.least = std::min(spread.least, cycles);
    spread.mean += cycles / kPieces;
    spread.most = std::max(spread.most, cycles);
  }
  return spread;
}

class HitLatencyTest : public testing::Test {
 protected:
  HitLatencyTest() { l2_.hit_spread_cycles = 40; }
  hw::L2 l2_ = test::test_config().l2;  // 211 cycles
};

TEST_F(HitLatencyTest, SingleLinesComeEvenlyAroundTheMean) {
  const Spread spread = spread_of(HitLatency(l2_), 1);
  EXPECT_NEAR(spread.least, 171, 1);
  EXPECT_NEAR(spread.mean, 211, 2);
  EXPECT_NEAR(spread.most, 251, 1);
  EXPECT_EQ(least_hit_cycles(l2_), 171);
}

// Of n lines the last comes n / (n + 1) of the whole width after the least.
TEST_F(HitLatencyTest, TheLastOfSeveralLinesDecides) {
  EXPECT_NEAR(spread_of(HitLatency(l2_), 4).mean, 171 + 80 * 4.0 / 5, 2);
  EXPECT_NEAR(spread_of(HitLatency(l2_), 16).mean, 171 + 80 * 16.0 / 17, 2);
  EXPECT_EQ(spread_of(HitLatency(l2_), 64).mean, spread_of(HitLatency(l2_), 16).mean);
}

TEST_F(HitLatencyTest, TwoSmsAreAtDifferentDistances) {
  const HitLatency hit(l2_);
  Piece piece;
  piece.key = 7;
  const std::int64_t first = hit.units(piece);
  EXPECT_EQ(hit.units(piece), first);
  piece.sm = 1;
  EXPECT_NE(hit.units(piece), first);
}

TEST_F(HitLatencyTest, WritesTakeTheMean) {
  Piece piece;
  piece.kind = AccessKind::write;
  EXPECT_EQ(HitLatency(l2_).units(piece), 211 * kQueueUnits);
}

TEST_F(HitLatencyTest, NothingComesBeforeItIsAskedFor) {
  l2_.hit_latency_cycles = 20;
  EXPECT_EQ(least_hit_cycles(l2_), 1);
  EXPECT_GE(spread_of(HitLatency(l2_), 1).least, 1);
}

}  // namespace
}  // namespace warpscope::memory
