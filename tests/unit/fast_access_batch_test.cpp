// Which accesses become one, and that they count as before.
#include "model/fast/access_batch.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace warpscope::test {
namespace {

using memory::AccessKind;

class AccessBatchTest : public testing::Test {
 protected:
  void add(std::int64_t offset, std::int64_t bytes, AccessKind kind = AccessKind::read,
           const fast::MemberRuns* runs = nullptr) {
    batch_.add({kind, 0, {0, offset}, bytes, runs == nullptr ? &runs_ : runs});
  }

  fast::MemberRuns runs_;
  fast::AccessBatch batch_;
};

TEST_F(AccessBatchTest, NeighboursAreJoinedInAnyOrder) {
  for (const std::int64_t offset : {1024, 0, 1536, 512}) {
    add(offset, 512);
  }
  add(4096, 512);
  const std::vector<fast::JoinedAccess>& joined = batch_.join();
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].begin.offset, 0);
  EXPECT_EQ(joined[0].bytes, 2048);
  EXPECT_EQ(joined[0].times, 1U);
  EXPECT_EQ(joined[1].begin.offset, 4096);
}

TEST_F(AccessBatchTest, EqualOnesCountSeveralTimes) {
  for (int i = 0; i < 3; ++i) {
    add(0, 128);
    add(128, 128);
  }
  add(256, 128);
  const std::vector<fast::JoinedAccess>& joined = batch_.join();
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].bytes, 256);
  EXPECT_EQ(joined[0].times, 3U);
  EXPECT_EQ(joined[1].times, 1U) << "accessed less often than its neighbours";
}

TEST_F(AccessBatchTest, SectorsOfSeveralPiecesCountForEach) {
  for (std::int64_t offset = 0; offset < 64; offset += 16) {
    add(offset, 16);
  }
  const std::vector<fast::JoinedAccess>& joined = batch_.join();
  ASSERT_EQ(joined.size(), 1U);
  EXPECT_EQ(joined[0].bytes, 64);
  EXPECT_EQ(joined[0].again_bytes, 2U * 32);
  batch_.clear();
  EXPECT_TRUE(batch_.join().empty());
  add(8, 64);
  add(72, 64);
  ASSERT_EQ(batch_.join().size(), 1U);
  EXPECT_EQ(batch_.join()[0].again_bytes, 32U) << "each touches three sectors, both together five";
}

TEST_F(AccessBatchTest, WhereOthersBeginWithinASectorNothingIsJoined) {
  fast::MemberRuns odd;
  odd.whole_sectors = false;
  add(0, 64, AccessKind::read, &odd);
  add(64, 64, AccessKind::read, &odd);
  EXPECT_EQ(batch_.join().size(), 2U);
}

TEST_F(AccessBatchTest, ReadsWritesAndRunsStayApart) {
  fast::MemberRuns other;
  other.number = 1;
  add(0, 512);
  add(512, 512, AccessKind::write);
  add(1024, 512, AccessKind::reduce);
  add(512, 512, AccessKind::read, &other);
  EXPECT_EQ(batch_.join().size(), 4U);
}

}  // namespace
}  // namespace warpscope::test
