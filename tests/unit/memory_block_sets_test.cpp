// Which sets blocks are in, and how many of a set may be dirty.
#include <gtest/gtest.h>

#include <vector>

#include "model/memory/partitioned_cache.hpp"
#include "tests/support/sector_access.hpp"

namespace warpscope::memory {
namespace {

// Ten sets of four, each with its own two or three blocks that may be dirty, 25 in all.
TEST(BlockCacheSets, EachSetHasItsOwnDirtyBlocks) {
  constexpr std::int64_t kSets = 10;
  PartitionedCache cache(
      {.capacity_bytes = 4 * kSets * kBlockBytes, .ways = 4, .dirty_bytes = 25 * kBlockBytes});
  std::vector<WriteBack> written;
  const auto write = [&](std::int64_t block) {
    Lookup ignored;
    write_sectors(cache, {.first_block = block_key(0, block), .sectors = kSectorsPerBlock}, ignored, written);
  };
  // Rows of as many blocks as there are sets have one in each.
  for (std::int64_t block = 0; block < 2 * kSets; ++block) {
    write(block);
  }
  EXPECT_TRUE(written.empty());
  for (std::int64_t block = 2 * kSets; block < 3 * kSets; ++block) {
    write(block);
  }
  EXPECT_EQ(cache.dirty_bytes(), 25 * kBlockBytes) << "half of the sets hold three";
  EXPECT_EQ(cache.used_bytes(), 3 * kSets * kBlockBytes);
}

// Of blocks dealt out to three caches, each cache puts those that it gets into all of its sets, and two
// caches do so in different orders.
TEST(BlockCacheSets, BlocksBehindOneAnotherFillAllSetsOfEachCache) {
  constexpr std::int64_t kSets = 8;
  const auto kept = [](int number, std::int64_t first) {
    PartitionedCache cache({.capacity_bytes = kSets * kBlockBytes,
                            .ways = 1,
                            .dirty_bytes = kBlockBytes,
                            .dealt_to = 3,
                            .number = number});
    std::vector<WriteBack> written;
    Lookup ignored;
    for (std::int64_t turn = 0; turn < kSets; ++turn) {
      read_sectors(cache, {.first_block = block_key(0, 3 * turn + (turn + number) % 3), .sectors = 1},
                   ignored, written);
    }
    EXPECT_EQ(cache.used_bytes(), kSets * kBlockBytes);
    // A block of another row takes the place of one of them.
    read_sectors(cache, {.first_block = block_key(0, first), .sectors = 1}, ignored, written);
    std::int64_t gone = -1;
    for (std::int64_t turn = kSets - 1; turn >= 0 && gone < 0; --turn) {
      Lookup found;
      PartitionedCache copy = cache;
      read_sectors(copy, {.first_block = block_key(0, 3 * turn + (turn + number) % 3), .sectors = 1}, found,
                   written);
      gone = found.miss_bytes > 0 ? turn : -1;
    }
    return gone;
  };
  int different = 0;
  for (std::int64_t row = 1; row <= 32; ++row) {
    EXPECT_GE(kept(0, 3 * kSets * row), 0);
    different += kept(0, 3 * kSets * row) != kept(1, 3 * kSets * row) ? 1 : 0;
  }
  EXPECT_GT(different, 16);
}

}  // namespace
}  // namespace warpscope::memory
