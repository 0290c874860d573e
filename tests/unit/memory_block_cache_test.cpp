// What the L2 holds: order of eviction, copies per partition, dirty bytes.
#include "model/memory/partitioned_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <random>
#include <stdexcept>

#include "tests/support/sector_access.hpp"

namespace warpscope::memory {
namespace {

constexpr int kSectors = 64;

static_assert(kSectorBytes == 32 && kBlockBytes == 2048);

/// A cache of four blocks in one partition.
class BlockCacheTest : public testing::Test {
 protected:
  Lookup read(std::int64_t block, int first = 0, int sectors = kSectors, std::int64_t now = 0) {
    return read_of(0, block, first, sectors, now);
  }
  Lookup read_of(std::uint32_t tensor, std::int64_t block, int first = 0, int sectors = kSectors,
                 std::int64_t now = 0) {
    Lookup found;
    read_sectors(cache_,
                 {.first_block = block_key(tensor, block),
                  .first_sector = first,
                  .sectors = sectors,
                  .now_cycles = now},
                 found, written_);
    return found;
  }
  /// The same, where what is missing arrives 100 later.
  Lookup ask(std::int64_t block, int first, int sectors, std::int64_t now) {
    Lookup found;
    read_sectors(
        cache_,
        {.first_block = block_key(0, block), .first_sector = first, .sectors = sectors, .now_cycles = now},
        found, written_, [=](std::int64_t /*bytes*/) { return now + 100; });
    return found;
  }
  Lookup write(std::int64_t block, int first = 0, int sectors = kSectors) {
    return write_of(0, block, first, sectors);
  }
  Lookup write_of(std::uint32_t tensor, std::int64_t block, int first = 0, int sectors = kSectors) {
    Lookup found;
    write_sectors(cache_,
                  {.first_block = block_key(tensor, block), .first_sector = first, .sectors = sectors}, found,
                  written_);
    return found;
  }
  bool holds(std::int64_t block) { return read(block).miss_bytes == 0; }

  PartitionedCache cache_{{.capacity_bytes = 4 * kBlockBytes, .ways = 4, .dirty_bytes = 3 * kBlockBytes}};
  std::vector<WriteBack> written_;
};

TEST_F(BlockCacheTest, FirstReadMissesSecondHits) {
  EXPECT_EQ(read(7).miss_bytes, kBlockBytes);
  EXPECT_EQ(read(7).miss_bytes, 0);
}

TEST_F(BlockCacheTest, OnlyTouchedSectorsAreThere) {
  read(7, 4, 3);
  const Lookup overlapping = read(7, 5, 6);
  EXPECT_EQ(overlapping.miss_bytes, 4 * kSectorBytes);
  EXPECT_EQ(read(7, 31, 1).miss_bytes, kSectorBytes);
  EXPECT_EQ(read(7, 0, kSectors).miss_bytes, (kSectors - 8) * kSectorBytes);
}

TEST_F(BlockCacheTest, SectorsOfTheUpperHalfAreApartFromThoseOfTheLower) {
  read(7, 31, 2);
  EXPECT_EQ(read(7, 63, 1).miss_bytes, kSectorBytes);
  EXPECT_EQ(read(7, 0, 31).miss_bytes, 31 * kSectorBytes);
  EXPECT_EQ(read(7, 33, 31).miss_bytes, 30 * kSectorBytes);
  EXPECT_EQ(read(7).miss_bytes, 0);
}

TEST_F(BlockCacheTest, SectorsGoOnInTheFollowingBlocks) {
  EXPECT_EQ(read(30, 60, 4 + 2 * kSectors + 1).miss_bytes, (4 + 2 * kSectors + 1) * kSectorBytes);
  EXPECT_EQ(cache_.used_bytes(), 4 * kBlockBytes);
  EXPECT_EQ(read(30).miss_bytes, (kSectors - 4) * kSectorBytes);
  EXPECT_EQ(read(32).miss_bytes, 0) << "beyond a page of 32 blocks, too";
  EXPECT_EQ(read(33, 0, 2).miss_bytes, kSectorBytes);
  EXPECT_EQ(write(30, kSectors - 1, 2).newly_dirty_bytes, 2 * kSectorBytes);
}

TEST_F(BlockCacheTest, BlocksOfManyTensorsComeAndGo) {
  for (std::uint32_t round = 0; round < 1000; ++round) {
    const std::int64_t block = std::int64_t{37} * (round % 100);
    EXPECT_EQ(read_of(round % 7, block, 0, 1).miss_bytes, kSectorBytes);
    EXPECT_EQ(read_of(round % 7, block, 0, 1).miss_bytes, 0);
  }
  EXPECT_EQ(cache_.used_bytes(), 4 * kBlockBytes);
}

TEST_F(BlockCacheTest, TensorsAreApart) {
  read(7);
  EXPECT_EQ(read_of(1, 7).miss_bytes, kBlockBytes);
}

TEST_F(BlockCacheTest, LeastRecentlyUsedBlockLeaves) {
  for (const std::int64_t block : {1, 2, 3, 4, 1, 5}) {
    read(block);
  }
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
      EXPECT_EQ(read(block).miss_bytes, kBlockBytes);
    }
  }
}

// Any number of ways, below, at and beyond what the host compares at once.
TEST(BlockCacheWays, ASetKeepsAsManyBlocksAsItHasWays) {
  for (const int ways : {1, 2, 5, 15, 16, 17, 33, 100, 255, 256}) {
    SCOPED_TRACE(ways);
    PartitionedCache cache({.capacity_bytes = ways * kBlockBytes, .ways = ways, .dirty_bytes = kBlockBytes});
    std::vector<WriteBack> written;
    const auto misses = [&](std::int64_t block) {
      Lookup found;
      read_sectors(cache, {.first_block = block_key(0, block), .sectors = 1}, found, written);
      return found.miss_bytes > 0;
    };
    // An order in which no block's neighbours in the order of use are its neighbours in number.
    const auto nth = [&](int n) { return std::int64_t{n} * 7 % 257; };
    for (int n = 0; n < ways; ++n) {
      EXPECT_TRUE(misses(nth(n)));
    }
    for (int n = ways - 1; n >= 0; --n) {
      EXPECT_FALSE(misses(nth(n)));
    }
    EXPECT_EQ(cache.used_bytes(), ways * kBlockBytes);
    EXPECT_TRUE(misses(1000));
    EXPECT_TRUE(misses(nth(ways - 1))) << "it was the oldest";
    if (ways > 2) {
      EXPECT_FALSE(misses(nth(0)));
    }
    EXPECT_EQ(cache.used_bytes(), ways * kBlockBytes);
  }
}

TEST(BlockCacheWays, MoreThanAnAgeCanCountAreRefused) {
  EXPECT_THROW(BlockCache({.capacity_bytes = kMostWays * 2 * kBlockBytes, .ways = kMostWays + 1}),
               std::invalid_argument);
}

// Against a set that is a list, most recent block first.
TEST(BlockCacheWays, RandomReadsHitWhereTheyDoInAList) {
  constexpr int kWays = 16;
  PartitionedCache cache({.capacity_bytes = kWays * kBlockBytes, .ways = kWays, .dirty_bytes = kBlockBytes});
  std::vector<WriteBack> written;
  std::list<std::uint64_t> recent;
  std::mt19937_64 random(1);
  int hits = 0;
  for (int access = 0; access < 20'000; ++access) {
    const std::uint64_t key = random() % 24 * (1 + random() % 2 * 0x1000000000000ULL);
    const auto known = std::ranges::find(recent, key);
    const bool hit = known != recent.end();
    hits += hit ? 1 : 0;
    Lookup found;
    read_sectors(cache, {.first_block = key, .sectors = 1}, found, written);
    ASSERT_EQ(found.miss_bytes == 0, hit) << "access " << access;
    if (hit) {
      recent.erase(known);
    } else if (recent.size() == kWays) {
      recent.pop_back();
    }
    recent.push_front(key);
  }
  EXPECT_GT(hits, 5'000);
  EXPECT_LT(hits, 15'000);
}

WayBytes repeated(std::uint8_t tag) {
  return WayBytes{} + tag;
}

TEST(WayRow, EqualTagsAreFoundWhereverTheyAre) {
  WayRow row;
  for (std::uint32_t way = 0; way < kRowWays; ++way) {
    row.tags[way] = static_cast<std::uint8_t>(way % 5 == 0 ? 0x80 : way);
  }
  EXPECT_EQ(row.ways_with(repeated(0x80)), 0x8421U);
  EXPECT_EQ(row.ways_with(repeated(14)), 1U << 14);
  EXPECT_EQ(row.ways_with(repeated(15)), 0U);
  EXPECT_EQ(gathered_bits(row.tags == repeated(0x80)), 0x8421U);
  EXPECT_EQ(gathered_bits(row.tags == repeated(1)), 2U);
}

TEST(WayRow, UseMakesAWayTheNewestAndKeepsTheOrderOfTheOthers) {
  WayRow row;
  WayRow other;
  for (std::uint32_t way = 0; way < kRowWays; ++way) {
    row.ages[way] = static_cast<std::uint8_t>(120 + 2 * way);
    other.ages[way] = static_cast<std::uint8_t>(121 + 2 * way);
  }
  other.pass(row.ages[10]);
  row.use(10);
  EXPECT_EQ(row.ways_aged(0), 1U << 10);
  EXPECT_EQ(row.ways_aged(121), 1U << 0);
  EXPECT_EQ(row.ways_aged(139), 1U << 9);
  EXPECT_EQ(row.ways_aged(142), 1U << 11) << "it was older before";
  EXPECT_EQ(row.ways_aged(140), 0U);
  EXPECT_EQ(other.ways_aged(140), 1U << 9);
  EXPECT_EQ(other.ways_aged(141), 1U << 10);
}

TEST_F(BlockCacheTest, WritesMakeSectorsDirtyOnce) {
  EXPECT_EQ(write(3, 0, 5).newly_dirty_bytes, 5 * kSectorBytes);
  EXPECT_EQ(write(3, 3, 4).newly_dirty_bytes, 2 * kSectorBytes);
  EXPECT_EQ(cache_.dirty_bytes(), 7 * kSectorBytes);
  EXPECT_EQ(read(3, 0, 7).miss_bytes, 0) << "what was written can be read";
}

TEST_F(BlockCacheTest, EvictionWritesBackTheDirtySectors) {
  write_of(9, 1, 2, 3);
  read_of(9, 1, 10, 9);
  for (std::int64_t block = 2; block < 6; ++block) {
    EXPECT_TRUE(written_.empty());
    read(block);
  }
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].tensor, 9U);
  EXPECT_EQ(written_[0].dirty_bytes, 3 * kSectorBytes);
  EXPECT_EQ(cache_.dirty_bytes(), 0);
  EXPECT_EQ(write_of(9, 1, 2, 3).newly_dirty_bytes, 3 * kSectorBytes)
      << "back in the cache it gets dirty anew";
}

TEST_F(BlockCacheTest, ClearForgetsWithoutWritingBack) {
  write(1);
  cache_.clear();
  EXPECT_TRUE(written_.empty());
  EXPECT_EQ(cache_.dirty_bytes(), 0);
  EXPECT_EQ(cache_.used_bytes(), 0);
  EXPECT_FALSE(holds(1));
}

TEST_F(BlockCacheTest, WhatIsDirtyBeyondTheLimitIsWrittenBackInTheOrderOfItsLastUseAndStays) {
  write_of(8, 2);
  write_of(9, 1);
  write_of(8, 2);
  write_of(7, 3);
  EXPECT_TRUE(written_.empty());
  write_of(6, 4, 0, 1);
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].tensor, 9U) << "8 turned dirty first and was written again";
  EXPECT_EQ(written_[0].dirty_bytes, kBlockBytes);
  EXPECT_EQ(cache_.dirty_bytes(), 2 * kBlockBytes + kSectorBytes);
  EXPECT_EQ(read_of(9, 1).miss_bytes, 0);
  EXPECT_EQ(write_of(9, 1, 0, 2).newly_dirty_bytes, 2 * kSectorBytes);
}

TEST_F(BlockCacheTest, BlockThatLeftAndCameBackIsDirtySinceItsLastWrite) {
  write_of(9, 1);
  for (std::int64_t block = 2; block < 6; ++block) {
    read(block);
  }
  write_of(8, 2);
  write_of(9, 1);
  write_of(7, 3);
  written_.clear();
  write_of(6, 4, 0, 1);
  ASSERT_EQ(written_.size(), 1U);
  EXPECT_EQ(written_[0].tensor, 8U);
}

TEST_F(BlockCacheTest, MissedSectorsAreOnTheirWayUntilTheyArrive) {
  EXPECT_EQ(ask(7, 0, 4, 1000).awaited_bytes, 0) << "nobody waits for what he asks for himself";
  const Lookup soon = ask(7, 2, 4, 1099);
  EXPECT_EQ(soon.awaited_bytes, 2 * kSectorBytes);
  EXPECT_EQ(soon.miss_bytes, 2 * kSectorBytes);
  EXPECT_EQ(soon.there_at, 1100);
  EXPECT_EQ(ask(7, 0, 6, 1198).awaited_bytes, 6 * kSectorBytes) << "as if all came with the last";
  EXPECT_EQ(ask(7, 0, 6, 1199).awaited_bytes, 0);
}

TEST_F(BlockCacheTest, SettlingLetsAllArrive) {
  ask(7, 0, 4, 1000);
  cache_.settle();
  EXPECT_EQ(ask(7, 0, 4, 0).awaited_bytes, 0);
}

}  // namespace
}  // namespace warpscope::memory
