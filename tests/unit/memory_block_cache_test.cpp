// What the L2 holds: order of eviction, copies per partition, dirty bytes.
#include "model/memory/block_cache.hpp"

#include <gtest/gtest.h>

namespace warpscope::memory {
namespace {

constexpr int kSectors = 64;

static_assert(kSectorBytes == 32 && kBlockBytes == 2048);

/// A cache of four blocks.
class BlockCacheTest : public testing::Test {
 protected:
  Lookup read(std::int64_t block, int first = 0, int sectors = kSectors, std::uint32_t partitions = 1) {
    return cache_.access({0, block}, first, sectors, false, partitions, evicted_);
  }
  Lookup write(std::int64_t block, int first = 0, int sectors = kSectors) {
    return cache_.access({0, block}, first, sectors, true, 1, evicted_);
  }
  bool holds(std::int64_t block) { return read(block).miss_bytes == 0; }

  BlockCache cache_{4 * kBlockBytes, 1};
  std::vector<Eviction> evicted_;
};

TEST_F(BlockCacheTest, FirstReadMissesSecondHits) {
  EXPECT_EQ(read(7).miss_bytes, kBlockBytes);
  EXPECT_EQ(read(7).hit_bytes, kBlockBytes);
  EXPECT_EQ(read(7).miss_bytes, 0);
}

TEST_F(BlockCacheTest, OnlyTouchedSectorsAreThere) {
  read(7, 4, 3);
  const Lookup overlapping = read(7, 5, 6);
  EXPECT_EQ(overlapping.hit_bytes, 2 * kSectorBytes);
  EXPECT_EQ(overlapping.miss_bytes, 4 * kSectorBytes);
  EXPECT_EQ(read(7, 31, 1).miss_bytes, kSectorBytes);
  EXPECT_EQ(read(7, 0, kSectors).hit_bytes, 8 * kSectorBytes);
}

TEST_F(BlockCacheTest, SectorsOfTheUpperHalfAreApartFromThoseOfTheLower) {
  read(7, 31, 2);
  EXPECT_EQ(read(7, 63, 1).miss_bytes, kSectorBytes);
  EXPECT_EQ(read(7, 0, 31).miss_bytes, 31 * kSectorBytes);
  EXPECT_EQ(read(7, 33, 31).miss_bytes, 30 * kSectorBytes);
  EXPECT_EQ(read(7).hit_bytes, kBlockBytes);
}

TEST_F(BlockCacheTest, SectorsGoOnInTheFollowingBlocks) {
  EXPECT_EQ(read(30, 60, 4 + 2 * kSectors + 1).miss_bytes, (4 + 2 * kSectors + 1) * kSectorBytes);
  EXPECT_EQ(cache_.used_bytes(), 4 * kBlockBytes);
  EXPECT_EQ(read(30).hit_bytes, 4 * kSectorBytes);
  EXPECT_EQ(read(32).hit_bytes, kBlockBytes) << "beyond a page of 32 blocks, too";
  EXPECT_EQ(read(33, 0, 2).hit_bytes, kSectorBytes);
  EXPECT_EQ(write(30, kSectors - 1, 2).newly_dirty_bytes, 2 * kSectorBytes);
}

TEST_F(BlockCacheTest, BlocksOfManyTensorsComeAndGo) {
  for (std::uint32_t round = 0; round < 1000; ++round) {
    const std::int64_t block = std::int64_t{37} * (round % 100);
    EXPECT_EQ(cache_.access({round % 7, block}, 0, 1, false, 1, evicted_).miss_bytes, kSectorBytes);
    EXPECT_EQ(cache_.access({round % 7, block}, 0, 1, false, 1, evicted_).hit_bytes, kSectorBytes);
  }
  EXPECT_EQ(evicted_.size(), 996U);
  EXPECT_EQ(cache_.used_bytes(), 4 * kBlockBytes);
}

TEST_F(BlockCacheTest, TensorsAreApart) {
  read(7);
  EXPECT_EQ(cache_.access({1, 7}, 0, kSectors, false, 1, evicted_).miss_bytes, kBlockBytes);
}

TEST_F(BlockCacheTest, LeastRecentlyUsedBlockLeaves) {
  for (const std::int64_t block : {1, 2, 3, 4, 1, 5}) {
    read(block);
  }
  ASSERT_EQ(evicted_.size(), 1U);
  EXPECT_TRUE(holds(1));
  EXPECT_TRUE(holds(3));
  EXPECT_TRUE(holds(4));
  EXPECT_TRUE(holds(5));
  EXPECT_FALSE(holds(2));
  EXPECT_EQ(cache_.used_bytes(), 4 * kBlockBytes);
}

TEST_F(BlockCacheTest, StreamLongerThanTheCacheNeverHits) {
  for (int round = 0; round < 3; ++round) {
    for (std::int64_t block = 0; block < 5; ++block) {
      EXPECT_EQ(read(block).hit_bytes, 0);
    }
  }
}

TEST_F(BlockCacheTest, WritesMakeSectorsDirtyOnce) {
  EXPECT_EQ(write(3, 0, 5).newly_dirty_bytes, 5 * kSectorBytes);
  EXPECT_EQ(write(3, 3, 4).newly_dirty_bytes, 2 * kSectorBytes);
  EXPECT_EQ(cache_.dirty_bytes(), 7 * kSectorBytes);
  EXPECT_EQ(read(3, 0, 7).hit_bytes, 7 * kSectorBytes) << "what was written can be read";
}

TEST_F(BlockCacheTest, EvictionWritesBackTheDirtySectors) {
  cache_.access({9, 1}, 2, 3, true, 1, evicted_);
  cache_.access({9, 1}, 10, 9, false, 1, evicted_);
  for (std::int64_t block = 2; block < 6; ++block) {
    EXPECT_TRUE(evicted_.empty());
    read(block);
  }
  ASSERT_EQ(evicted_.size(), 1U);
  EXPECT_EQ(evicted_[0].tensor, 9U);
  EXPECT_EQ(evicted_[0].dirty_bytes, 3 * kSectorBytes);
  EXPECT_EQ(cache_.dirty_bytes(), 0);
  EXPECT_EQ(cache_.access({9, 1}, 2, 3, true, 1, evicted_).newly_dirty_bytes, 3 * kSectorBytes)
      << "back in the cache it gets dirty anew";
}

TEST_F(BlockCacheTest, ClearForgetsWithoutWritingBack) {
  write(1);
  cache_.clear();
  EXPECT_TRUE(evicted_.empty());
  EXPECT_EQ(cache_.dirty_bytes(), 0);
  EXPECT_EQ(cache_.used_bytes(), 0);
  EXPECT_FALSE(holds(1));
}

TEST(BlockCachePartitions, CopiesForFarSmsTakeCapacityOfTheirOwn) {
  BlockCache cache(4 * kBlockBytes, 2);
  std::vector<Eviction> evicted;
  // Block 0 is homed in partition 0, block 1 in partition 1.
  cache.access({0, 0}, 0, 1, false, 1, evicted);
  EXPECT_EQ(cache.used_bytes(), 1 * kBlockBytes);
  EXPECT_EQ(cache.access({0, 0}, 0, 1, false, 2, evicted).miss_bytes, 0) << "it is in the chip";
  EXPECT_EQ(cache.used_bytes(), 2 * kBlockBytes);
  cache.access({0, 0}, 0, 1, false, 2, evicted);
  EXPECT_EQ(cache.used_bytes(), 2 * kBlockBytes);
  cache.access({0, 1}, 0, 1, false, 1, evicted);
  EXPECT_EQ(cache.used_bytes(), 4 * kBlockBytes) << "home and reader";
  cache.access({0, 3}, 0, 1, true, 1, evicted);
  EXPECT_EQ(cache.used_bytes(), 4 * kBlockBytes) << "a writer has a copy too; both of block 0 have left";
  EXPECT_EQ(evicted.size(), 1U);
}

}  // namespace
}  // namespace warpscope::memory
