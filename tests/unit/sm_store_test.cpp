// Stores to global memory: the buffer that hides them, and what waits behind it.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/core_bench.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;
using memory::kPortUnits;

/// When the exit behind `count` stores issues: with the last one's way out of the queue.
std::int64_t store_time(int count, int port_cycles) {
  Program program;
  for (int i = 0; i < count; ++i) {
    program.op(STG_128).global(0, 0, 512);
  }
  program.exit();
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(memory::Response{
      .latency_cycles = 700, .l2_port_units = port_cycles * kPortUnits, .dram_port_units = 0});
  return bench.run();
}

TEST(SmStore, DoesNotWaitForTheMemory) {
  // 512 bytes take the data path for four cycles.
  EXPECT_EQ(store_time(1, 0), 1);
  EXPECT_EQ(store_time(4, 0), 4 * 3);
}

TEST(SmStore, BufferHidesTheBacklogUntilItIsFull) {
  const int buffer_stores = test_config().sm.global.store_buffer_bytes / 512;
  ASSERT_EQ(buffer_stores, 8);
  // Store n may leave when all but eight of the stores before it have gone through the port, ten cycles each.
  for (int count = 2; count < 30; ++count) {
    const int last = count - 1;
    EXPECT_EQ(store_time(count, 10), std::max(4 * last, 10 * (last - buffer_stores))) << count;
  }
}

TEST(SmStore, LoadsOfTheSameSubCoreWaitBehindAFullBuffer) {
  Program program;
  for (int i = 0; i < 20; ++i) {
    program.op(STG_128).global(0, 0, 512);
  }
  program.op(LDS_32).writes(1).shared(128, 1).exit().reads(1);
  const hw::HwConfig config = test_config();
  CoreBench bench(config, one_program(program.build()));
  bench.answer(
      memory::Response{.latency_cycles = 700, .l2_port_units = 10 * kPortUnits, .dram_port_units = 0});
  const int latency = config.sm.shared.base_latency_cycles + 128 / config.sm.shared.sub_core_bytes_per_clk;
  EXPECT_EQ(bench.run(), 10 * (20 - 8) + latency);
}

// 20 loads keep the L2 port busy for 2000 cycles; the stores behind them leave as if there were none.
TEST(SmStore, DoesNotWaitForTheBacklogOfLoads) {
  const auto last_store = [](int load_port_cycles) {
    Program program;
    for (std::uint16_t i = 0; i < 20; ++i) {
      program.op(LDG_32).global(0, 0, 128);
    }
    for (int i = 0; i < 10; ++i) {
      program.op(STG_128).global(0, 0, 512);
    }
    program.exit();
    CoreBench bench(test_config(), one_program(program.build()));
    bench.answer([&](const sm::MemoryRequest& request) {
      const bool load = request.kind == memory::AccessKind::read;
      return memory::Response{.latency_cycles = 100,
                              .l2_port_units = (load ? load_port_cycles : 4) * kPortUnits};
    });
    return bench.run();
  };
  EXPECT_EQ(last_store(100), last_store(0));
  EXPECT_EQ(last_store(100), 20 * 2 + 9 * 4);
}

TEST(SmStore, LoadsWaitForTheBacklogOfStores) {
  Program program;
  for (int i = 0; i < 4; ++i) {
    program.op(STG_128).global(0, 0, 512);
  }
  program.op(LDG_32).writes(1).global(0, 0, 128).exit().reads(1);
  CoreBench bench(test_config(), one_program(program.build()));
  bench.answer(memory::Response{.latency_cycles = 102, .l2_port_units = 10 * kPortUnits});
  EXPECT_EQ(bench.run(), 160) << "5 x 10 + 102";
}

TEST(SmStore, KindsOfRequestsAreTold) {
  Program program;
  program.op(STG_32).global(0, 0, 128).op(RED_ADD_F32).global(0, 0, 128).op(LDG_32).global(0, 0, 128).exit();
  CoreBench bench(test_config(), one_program(program.build()));
  bench.run();
  ASSERT_EQ(bench.accesses().size(), 3U);
  EXPECT_EQ(bench.accesses()[0].request.kind, memory::AccessKind::write);
  EXPECT_EQ(bench.accesses()[1].request.kind, memory::AccessKind::reduce);
  EXPECT_EQ(bench.accesses()[2].request.kind, memory::AccessKind::read);
}

}  // namespace
}  // namespace warpscope::test
