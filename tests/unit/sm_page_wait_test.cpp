// How long a burst of loads waits for pages of HBM.
#include <gtest/gtest.h>

#include "tests/support/loads_arrive.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;

/// When `count` loads that read `bytes` each from HBM have arrived; the mean wait for a page is 1600 cycles.
std::int64_t burst_arrives(int count, std::int32_t bytes) {
  memory::Response response{.latency_cycles = 100};
  response.dram_bytes = bytes;
  response.page_wait_cycles = 1600;
  return loads_arrive(count, response);
}

// The last of n pages takes H(n) = 1 + 1/2 + ... + 1/n mean waits. Loads leave two cycles apart.
TEST(SmPageWait, GrowsAsTheHarmonicNumberOfPagesOfABurst) {
  ASSERT_EQ(test_config().hbm.page_bytes, 1024);
  EXPECT_EQ(burst_arrives(1, 0), 96) << "hits do not wait for pages";
  EXPECT_EQ(burst_arrives(1, 1024), 1696) << "100 + 1600";
  EXPECT_EQ(burst_arrives(2, 1024), 2496) << "2 + 100 + 2400";
  EXPECT_EQ(burst_arrives(3, 1024), 3040) << "4 + 100 + 2933";
  EXPECT_EQ(burst_arrives(4, 1024), 3440) << "6 + 100 + 3333";
}

TEST(SmPageWait, BytesOfABurstAddUpToWholePages) {
  EXPECT_EQ(burst_arrives(1, 32), burst_arrives(1, 1024)) << "at least one page";
  EXPECT_EQ(burst_arrives(1, 1535), burst_arrives(1, 1024)) << "rounded to the nearest";
  EXPECT_EQ(burst_arrives(1, 1536), 2496) << "100 + 2400";
  EXPECT_EQ(burst_arrives(4, 512), 2512) << "6 + 100 + 2400";
}

TEST(SmPageWait, GrowsNoMoreBeyond64Pages) {
  EXPECT_EQ(burst_arrives(1, 64 * 1024), 7696) << "100 + 1600 x 4.7439";
  EXPECT_EQ(burst_arrives(1, 65 * 1024), 7696);
  EXPECT_EQ(burst_arrives(1, 1 << 20), 7696);
}

TEST(SmPageWait, BurstEndsWhenAllItsDataIsThere) {
  Program program;
  program.op(LDG_32).sets(0).global(0, 0, 128).op(LDG_32).sets(0).global(0, 0, 128);
  program.op(LDG_32).waits_for(0).sets(0).global(0, 0, 128).exit().waits_for(0);
  CoreBench bench(test_config(), one_program(program.build()));
  memory::Response response{.latency_cycles = 100};
  response.dram_bytes = 1024;
  response.page_wait_cycles = 1600;
  bench.answer(response);
  EXPECT_EQ(bench.run(), 2496 + 1696) << "one page again";
  EXPECT_EQ(bench.accesses()[2].time, 2496);
}

TEST(SmPageWait, BurstsOfCtasAreTheirOwn) {
  Program program;
  program.op(LDG_32).writes(0).global(0, 0, 128).exit().reads(0);
  CoreBench bench(test_config(), one_program(program.build(), 1, 4), 4);
  memory::Response response{.latency_cycles = 100};
  response.dram_bytes = 1024;
  response.page_wait_cycles = 1600;
  bench.answer(response);
  EXPECT_EQ(bench.run(), 1696);
}

}  // namespace
}  // namespace warpscope::test
