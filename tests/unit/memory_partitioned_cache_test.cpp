// Partitions of the L2: homes, copies on the readers' side, and what an H200 does.
#include "model/memory/partitioned_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "experiments/csv/csv.hpp"
#include "tests/support/l2_shape.hpp"
#include "tests/support/readers_in_time.hpp"
#include "tests/support/sector_access.hpp"

namespace warpscope::memory {
namespace {

class PartitionedCacheTest : public testing::Test {
 protected:
  Lookup read(std::uint64_t block, std::uint32_t partitions) {
    Lookup found;
    read_sectors(cache_, {.first_block = block, .sectors = kSectorsPerBlock, .partitions = partitions}, found,
                 written_);
    return found;
  }
  Lookup write(std::uint64_t block, std::uint32_t partitions) {
    Lookup found;
    write_sectors(cache_, {.first_block = block, .sectors = kSectorsPerBlock, .partitions = partitions},
                  found, written_);
    return found;
  }
  /// The partition that a block is homed in: whose SMs make no copy.
  std::uint32_t home_of(std::uint64_t block) {
    PartitionedCache fresh(
        {.capacity_bytes = 8 * kBlockBytes, .ways = 4, .dirty_bytes = kBlockBytes, .partitions = 2});
    std::vector<WriteBack> written;
    Lookup found;
    read_sectors(fresh, {.first_block = block, .sectors = 1, .partitions = 1}, found, written);
    return fresh.used_bytes() == kBlockBytes ? 1 : 2;
  }
  static std::uint32_t other(std::uint32_t partition) { return 3 - partition; }

  PartitionedCache cache_{
      {.capacity_bytes = 8 * kBlockBytes, .ways = 4, .dirty_bytes = 8 * kBlockBytes, .partitions = 2}};
  std::vector<WriteBack> written_;
};

TEST_F(PartitionedCacheTest, ReadersOfTheFarSideKeepACopy) {
  const std::uint32_t home = home_of(0);
  EXPECT_EQ(read(0, home).miss_bytes, kBlockBytes);
  EXPECT_EQ(cache_.used_bytes(), kBlockBytes);
  EXPECT_EQ(read(0, other(home)).miss_bytes, 0) << "it is in the chip";
  EXPECT_EQ(cache_.used_bytes(), 2 * kBlockBytes);
  read(0, 3);
  EXPECT_EQ(cache_.used_bytes(), 2 * kBlockBytes);
}

TEST_F(PartitionedCacheTest, WritesAreDirtyAtHomeAndCleanOnTheWritersSide) {
  write(0, other(home_of(0)));
  EXPECT_EQ(cache_.used_bytes(), 2 * kBlockBytes);
  EXPECT_EQ(cache_.dirty_bytes(), kBlockBytes);
}

TEST_F(PartitionedCacheTest, WhatIsAddedLeavesNoCopy) {
  EXPECT_EQ(read(0, 0).miss_bytes, kBlockBytes);
  write(0, 0);
  EXPECT_EQ(cache_.used_bytes(), kBlockBytes);
  EXPECT_EQ(cache_.dirty_bytes(), kBlockBytes);
  EXPECT_EQ(read(0, 3).miss_bytes, 0);
}

// Two rows of blocks, each of which goes once through the eight sets: each set has one block in each
// partition.
TEST_F(PartitionedCacheTest, BlocksBehindOneAnotherFillThePartitionsEvenly) {
  constexpr std::uint64_t kSets = 8;
  for (const std::uint64_t first : {0U, 32U, 1600U}) {
    PartitionedCache cache({.capacity_bytes = 2 * kSets * 4 * kBlockBytes,
                            .ways = 4,
                            .dirty_bytes = 2 * kSets * kBlockBytes,
                            .partitions = 2});
    Lookup ignored;
    for (std::uint64_t block = first; block < first + 2 * kSets; ++block) {
      write_sectors(cache, {.first_block = block, .sectors = kSectorsPerBlock, .partitions = 0}, ignored,
                    written_);
    }
    EXPECT_TRUE(written_.empty()) << first;
    write_sectors(cache, {.first_block = first + 2 * kSets, .sectors = 1, .partitions = 0}, ignored,
                  written_);
    EXPECT_EQ(written_.size(), 1U) << first;
    written_.clear();
  }
}

// The home of block 0 forgets it while the far side goes on reading its copy; the home's own side must then
// read HBM.
TEST_F(PartitionedCacheTest, HomeForgetsWhatOnlyTheFarSideReads) {
  const std::uint32_t home = home_of(0);
  read(0, other(home));
  int others = 0;
  for (std::uint64_t block = 1; others < 4; ++block) {
    if (home_of(block) == home) {
      read(block, home);
      ++others;
      EXPECT_EQ(read(0, other(home)).miss_bytes, 0);
    }
  }
  EXPECT_EQ(read(0, home).miss_bytes, kBlockBytes);
}

/// One row of the measurement.
struct Reuse {
  std::string text;
  bool shared = false;
  std::uint64_t reuse_mib = 0;
  std::uint64_t stream_mib = 0;
  std::uint64_t write_mib = 0;
  double written_bytes = 0;
  double misses = 0;
};

std::vector<Reuse> measured_rows() {
  const experiments::CsvTable table =
      experiments::read_csv(WARPSCOPE_SOURCE_DIR "/experiments/reference/measured-h200/l2_reuse.csv");
  std::vector<Reuse> rows;
  for (const experiments::CsvRecord& record : table.rows) {
    const auto number = [&](const char* column) { return std::stod(record.fields.at(table.column(column))); };
    const auto mebibytes = [&](const char* column) { return static_cast<std::uint64_t>(number(column)); };
    rows.push_back({record.text, number("shared") > 0, mebibytes("reuse_mib"), mebibytes("stream_mib"),
                    mebibytes("write_mib"), number("dram__bytes_write.sum"), number("reuse_misses")});
  }
  return rows;
}

/// The part of the reuse that misses and the bytes still dirty at the end, for the access pattern of the row.
std::pair<double, double> reuse_misses(const Reuse& row) {
  constexpr std::uint64_t kRounds = 9;
  constexpr int kCtas = 528;
  constexpr std::uint64_t kChunks = 256;  // of 4 KB in a MiB
  PartitionedCache cache(tests::l2_shape("h200-sxm-141gb"));
  std::vector<WriteBack> written;
  std::int64_t missed = 0;
  // The readers of chunks are spread over the partitions by some hash.
  const auto chunk_of = [&](std::uint32_t tensor, std::uint64_t chunk, std::uint64_t reader) {
    return SectorAccess{.first_block = block_key(tensor, static_cast<std::int64_t>(2 * chunk)),
                        .sectors = 2 * kSectorsPerBlock,
                        .partitions = 1U << (reader * 0x9e3779b97f4a7c15ULL >> 63)};
  };
  const std::uint64_t most_mib = std::max({row.reuse_mib, row.stream_mib, row.write_mib});
  std::vector<std::uint64_t> steps(kCtas);
  tests::read_in_time(kCtas, [&](int cta) {
    const std::uint64_t steps_of_round = (most_mib * kChunks + kCtas - 1) / kCtas;
    const std::uint64_t step = steps[static_cast<std::size_t>(cta)]++;
    const std::uint64_t round = step / steps_of_round;
    const std::uint64_t i = step % steps_of_round * kCtas + static_cast<std::uint64_t>(cta);
    if (round == kRounds) {
      return tests::Step::ended;
    }
    Lookup found;
    if (i < row.reuse_mib * kChunks) {
      read_sectors(cache, chunk_of(0, i, row.shared ? i + round * 7919 : i), found, written);
      missed += round > 0 ? found.miss_bytes : 0;
    }
    if (i < row.stream_mib * kChunks) {
      read_sectors(cache, chunk_of(1, round * row.stream_mib * kChunks + i, i), found, written);
    }
    if (i < row.write_mib * kChunks) {
      Lookup ignored;
      write_sectors(cache, chunk_of(2, round * row.write_mib * kChunks + i, i), ignored, written);
    }
    written.clear();
    return found.miss_bytes > 0 ? tests::Step::missed : tests::Step::hit;
  });
  const auto reused = static_cast<double>(((kRounds - 1) * row.reuse_mib) << 20);
  return {static_cast<double>(missed) / reused, static_cast<double>(cache.dirty_bytes())};
}

// The part of the reuse that misses beside a stream, against an H200. Where neighbours take turns, the
// hardware's do so less by chance, so that fewer shared lines are given up.
TEST(PartitionedCacheReuse, EndsWhereItDoesOnAnH200) {
  double squares[2] = {};
  int rows[2] = {};
  for (const Reuse& row : measured_rows()) {
    if (row.stream_mib > 0) {
      squares[row.shared] += std::pow(reuse_misses(row).first - row.misses, 2);
      ++rows[row.shared];
    }
  }
  ASSERT_EQ(rows[0], 62);
  ASSERT_EQ(rows[1], 32);
  EXPECT_LT(std::sqrt(squares[0] / rows[0]), 0.05);
  EXPECT_LT(std::sqrt(squares[1] / rows[1]), 0.09);
}

// Without a stream the hardware keeps more than a strict order of use in its sets would.
TEST(PartitionedCacheReuse, KeepsAllOfAThirdAndNothingBeyondTheCapacity) {
  int kept = 0;
  int lost = 0;
  for (const Reuse& row : measured_rows()) {
    if (row.stream_mib + row.write_mib == 0 && row.reuse_mib <= 24) {
      EXPECT_LT(reuse_misses(row).first, 0.01) << row.text;
      ++kept;
    } else if (row.stream_mib + row.write_mib == 0 && row.reuse_mib >= 60) {
      EXPECT_GT(reuse_misses(row).first, 0.95) << row.text;
      ++lost;
    }
  }
  EXPECT_EQ(kept, 18);
  EXPECT_EQ(lost, 10);
}

TEST(PartitionedCacheReuse, LeavesAsMuchDirtyAsAnH200) {
  int rows = 0;
  for (const Reuse& row : measured_rows()) {
    const double left = static_cast<double>((9 * row.write_mib) << 20) - row.written_bytes;
    if (row.write_mib > 0 && row.reuse_mib <= 16) {
      EXPECT_NEAR(reuse_misses(row).second, left, 0.2 * left) << row.text;
      ++rows;
    }
  }
  EXPECT_EQ(rows, 30);
}

}  // namespace
}  // namespace warpscope::memory
