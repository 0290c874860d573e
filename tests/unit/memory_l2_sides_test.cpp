// Which partition of the L2 an SM lies at, and what that decides: what is read again of blocks that all SMs
// go round.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "model/hw/config_loader.hpp"
#include "model/memory/access_kind.hpp"
#include "model/memory/partitioned_cache.hpp"
#include "tests/support/l2_shape.hpp"
#include "tests/support/sector_access.hpp"

namespace warpscope::memory {
namespace {

constexpr int kRingSms = 132;
constexpr std::int64_t kRingBlockBytes = 65536;
constexpr std::int64_t kRingPartBytes = 8192;

hw::L2 h200() {
  return hw::load("h200-sxm-141gb", {}, WARPSCOPE_SOURCE_DIR "/hwconfigs").config.l2;
}

TEST(L2Sides, SmsThatGetCtasOneAfterTheOtherLieAtOnePartition) {
  const hw::L2 l2 = h200();
  std::vector<int> sms(2, 0);
  int changes = 0;
  for (int sm = 0; sm < kRingSms; ++sm) {
    ++sms[static_cast<std::size_t>(std::countr_zero(partition_of_sm(sm, l2)))];
    changes += sm > 0 && partition_of_sm(sm, l2) != partition_of_sm(sm - 1, l2) ? 1 : 0;
  }
  EXPECT_EQ(sms, (std::vector<int>{66, 66}));
  EXPECT_EQ(changes, 3) << "measured: 8, 48, 50, 18 and 8 SMs, beginning anywhere";
}

/// SMs evenly apart go once round so many blocks, each from its place down.
double ring_bytes(std::int64_t blocks, const hw::L2& l2) {
  PartitionedCache cache(tests::l2_shape("h200-sxm-141gb"));
  std::vector<WriteBack> written;
  std::int64_t missed_bytes = 0;
  for (std::int64_t step = 0; step < blocks; ++step) {
    for (std::int64_t part = 0; part < kRingBlockBytes; part += kRingPartBytes) {
      for (int sm = 0; sm < kRingSms; ++sm) {
        const std::int64_t block = (sm * blocks / kRingSms + blocks - step) % blocks;
        Lookup found;
        read_sectors(cache,
                     {.first_block = block_key(0, (block * kRingBlockBytes + part) / kBlockBytes),
                      .sectors = kRingPartBytes / kSectorBytes,
                      .partitions = partition_of_sm(sm, l2)},
                     found, written);
        missed_bytes += found.miss_bytes;
      }
    }
  }
  return static_cast<double>(missed_bytes);
}

TEST(L2Sides, WhatNeighboursReadSoonAfterIsStillThere) {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-h200/l2_rings.csv");
  int rings = 0;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto text = [&](const char* column) { return record.fields.at(table.column(column)); };
    const std::int64_t blocks = std::stoll(text("blocks"));
    if (text("pattern") != "ring" || text("passes_or_run") != "1" || blocks > 700) {
      continue;
    }
    SCOPED_TRACE(record.text);
    const double measured = std::stod(text("dram__bytes_read.sum"));
    const double read = ring_bytes(blocks, h200());
    // Runs of SMs are shorter on hardware, so a few more blocks find nobody of their side close behind.
    EXPECT_LT(read, 1.04 * measured);
    EXPECT_GT(read, blocks <= 512 ? 0.99 * measured : 0.55 * measured);
    ++rings;
  }
  EXPECT_EQ(rings, 6);
}

TEST(L2Sides, SmsDealtToThePartitionsByTurnsReadMuchMore) {
  hw::L2 by_turns = h200();
  by_turns.partition_sms = 1;
  EXPECT_GT(ring_bytes(576, by_turns), 5 * 113e6);
}

}  // namespace
}  // namespace warpscope::memory
