// An SM with its port, between two exchanges with a memory that answers what the test says.
#include "model/engine/sm_unit.hpp"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "model/memory/memory_system.hpp"
#include "tests/support/test_config.hpp"
#include "tests/support/trace_builder.hpp"

namespace warpscope::test {
namespace {

using enum trace::Opcode;
using engine::SmUnit;

constexpr sim::Cycles kWindow = 32;

/// One CTA on one SM, whose pieces are all answered `answer` cycles after they leave it. Behind the first
/// window with pieces the SM jumps ahead by `jump`.
class UnitBench {
 public:
  UnitBench(const hw::HwConfig& config, const Program& program, sim::Cycles answer, sim::Cycles jump = 0)
      : config_(config),
        trace_{{tensor("t", 1 << 20)}, {one_program(program.build())}},
        decoded_(sm::decode(config_, trace_, trace_.launches[0])),
        memory_(config_, {{1, 1 << 20}}),
        unit_(config_, trace_, decoded_, 1, 0, memory_, nullptr) {
    unit_.install({&trace_.launches[0].classes[0], {0, 0, 0}, false}, 0);
    for (sim::Cycles begin = 0; begin < 1 << 16 && (!unit_.core().idle() || unit_.awaits_answers());
         begin += kWindow) {
      unit_.run_window(begin, begin + kWindow);
      for (memory::Piece& piece : unit_.asked()) {
        EXPECT_GE(piece.time_cycles, begin);
        EXPECT_LT(piece.time_cycles, begin + kWindow) << "what leaves later is asked for later";
        piece.arrival_cycles = piece.time_cycles + answer;
        asked.push_back(piece);
      }
      for (const auto& [time, slot] : unit_.completions()) {
        end = time;
      }
      if (jump > 0 && !unit_.asked().empty()) {
        unit_.jump(begin + kWindow, std::exchange(jump, 0));
        event_behind_jump = unit_.next_event();
      }
    }
  }

  sim::Cycles end = -1;
  sim::Cycles event_behind_jump = -1;
  std::vector<memory::Piece> asked;
  const SmUnit& unit() const { return unit_; }

 private:
  hw::HwConfig config_;
  trace::Trace trace_;
  sm::DecodedLaunch decoded_;
  memory::MemorySystem memory_;
  SmUnit unit_;
};

/// `count` accesses of 512 bytes, one after the other; then the exit, which waits for loads.
Program accesses(trace::Opcode opcode, int count, std::uint32_t bytes = 512) {
  Program program;
  for (int i = 0; i < count; ++i) {
    program.op(opcode).global(0, 512 * i, bytes).sets(0);
  }
  return program.exit().waits_for(0);
}

TEST(SmUnit, LoadsAreDrawnThroughThePort) {
  hw::HwConfig config = test_config();
  config.l2.sm_bytes_per_clk = 16;
  const UnitBench bench(config, accesses(LDG_128, 6), 100);
  ASSERT_EQ(bench.asked.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(bench.asked[i].time_cycles, bench.asked[0].time_cycles + 32 * static_cast<sim::Cycles>(i));
    EXPECT_EQ(bench.asked[i].number, i);
  }
  EXPECT_EQ(bench.asked[0].time_cycles, config.sm.icache.l1_fill_cycles);
  EXPECT_EQ(bench.end, bench.asked[5].time_cycles + 100) << "the exit waits for the last answer";
}

TEST(SmUnit, StoresDoNotGoThroughThePortOfLoads) {
  hw::HwConfig config = test_config();
  config.l2.sm_bytes_per_clk = 1;
  const UnitBench bench(config, accesses(STG_128, 6), 300);
  ASSERT_EQ(bench.asked.size(), 6U);
  EXPECT_EQ(bench.asked[5].time_cycles, bench.asked[0].time_cycles + 5 * 4) << "by the data path";
  EXPECT_EQ(bench.unit().stored_by(), bench.asked[5].time_cycles + 300 - config.l2.hit_latency_cycles);
}

TEST(SmUnit, StoresWaitForRoomInTheBuffer) {
  hw::HwConfig config = test_config();
  config.sm.global.store_buffer_bytes = 2 * 512;
  const UnitBench bench(config, accesses(STG_128, 5), 100);
  ASSERT_EQ(bench.asked.size(), 5U);
  const sim::Cycles first = bench.asked[0].time_cycles;
  EXPECT_EQ(bench.asked[1].time_cycles, first + 4);
  EXPECT_EQ(bench.asked[2].time_cycles, first + 100);
  EXPECT_EQ(bench.asked[3].time_cycles, first + 104);
  EXPECT_EQ(bench.asked[4].time_cycles, first + 200);
}

TEST(SmUnit, ReductionsWaitForRoomInTheirBuffer) {
  hw::HwConfig config = test_config();
  config.sm.global.reduce_buffer_entries = 2;
  const UnitBench bench(config, accesses(RED_ADD_F32, 4, 128), 100);
  ASSERT_EQ(bench.asked.size(), 4U);
  const sim::Cycles first = bench.asked[0].time_cycles;
  EXPECT_EQ(bench.asked[1].time_cycles, first + config.sm.global.reduce_sustained_cycles);
  EXPECT_EQ(bench.asked[2].time_cycles, first + 100);
  EXPECT_EQ(bench.asked[3].time_cycles, first + 100 + config.sm.global.reduce_sustained_cycles);
}

/// `count` accesses of `bytes` that nobody waits for, one after the other, and a load behind them.
Program load_behind(trace::Opcode opcode, int count, int bytes) {
  Program program;
  for (int i = 0; i < count; ++i) {
    program.op(opcode).global(0, bytes * i, bytes).sets(0);
  }
  program.op(LDG_128).global(0, 4096, 512).sets(0);
  return program.exit().waits_for(0);
}

// What a store carries takes its time on the way out of the SM, and what is asked for behind it waits.
TEST(SmUnit, RequestsLeaveBehindStores) {
  hw::HwConfig config = test_config();
  config.sm.global.store_bytes_per_clk = 32;
  const UnitBench bench(config, load_behind(STG_128, 3, 512), 300);
  ASSERT_EQ(bench.asked.size(), 4U);
  const sim::Cycles first = bench.asked[0].time_cycles;
  EXPECT_EQ(bench.asked[1].time_cycles, first + 16);
  EXPECT_EQ(bench.asked[2].time_cycles, first + 32);
  EXPECT_EQ(bench.asked[3].time_cycles, first + 48) << "a load";
}

TEST(SmUnit, LoadsLeaveBehindReductions) {
  const hw::HwConfig config = test_config();
  const UnitBench bench(config, load_behind(RED_ADD_F32, 4, 128), 300);
  ASSERT_EQ(bench.asked.size(), 5U);
  EXPECT_EQ(bench.asked[4].time_cycles,
            bench.asked[0].time_cycles + 4 * config.sm.global.reduce_sustained_cycles);
}

// The only thing it waited for may be the answer that the jump takes along.
TEST(SmUnit, KnowsItsNextEventBehindAJump) {
  const UnitBench stays(test_config(), accesses(LDG_128, 1), 100);
  const UnitBench jumps(test_config(), accesses(LDG_128, 1), 100, 1000);
  EXPECT_EQ(jumps.end, stays.end + 1000);
  EXPECT_EQ(jumps.event_behind_jump, jumps.end);
}

TEST(SmUnit, AnAccessIsAnsweredWithItsLastPiece) {
  Program program;
  program.op(LDG_128).global(0, 2048 - 256, 512).sets(0).exit().waits_for(0);
  const UnitBench bench(test_config(), program, 333);
  ASSERT_EQ(bench.asked.size(), 2U) << "of two blocks";
  EXPECT_EQ(bench.end, bench.asked[0].time_cycles + 333);
}

}  // namespace
}  // namespace warpscope::test
