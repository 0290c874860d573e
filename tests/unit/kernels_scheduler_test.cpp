// The list scheduler's rules, one tight test each.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "kernels/compiler/list_scheduler.hpp"
#include "tests/support/instruction.hpp"

namespace warpscope::tests {
namespace {

using kernels::BasicBlock;
using kernels::BlockLiveness;
using kernels::CompilerTarget;
using trace::Instruction;
using trace::Opcode;
using trace::RegisterRange;

RegisterRange p(int number) {
  return r(trace::kFirstPredicate + number);
}

std::vector<Instruction> schedule(const std::vector<Instruction>& code, const CompilerTarget& target = {},
                                  const BlockLiveness& liveness = {}) {
  return kernels::schedule_block(BasicBlock{code, false}, liveness, target).code;
}

std::vector<Opcode> opcodes(const std::vector<Instruction>& code) {
  std::vector<Opcode> result;
  result.reserve(code.size());
  for (const Instruction& instruction : code) {
    result.push_back(instruction.opcode);
  }
  return result;
}

using Order = std::vector<Opcode>;

/// Something behind the block reads all registers.
BlockLiveness all_live_out() {
  BlockLiveness liveness;
  liveness.live_out.set();
  return liveness;
}

TEST(ListScheduler, FillsALatencyWithWhatIsReady) {
  // FFMA -> FADD needs 4 cycles on sm_80; the independent ALU instruction is later in the source.
  const auto order = schedule(
      {make(Opcode::FFMA, r(1), {r(0)}), make(Opcode::FADD, r(2), {r(1)}), make(Opcode::LOP3, r(3), {r(0)})});
  EXPECT_EQ(opcodes(order), (Order{Opcode::FFMA, Opcode::LOP3, Opcode::FADD}));
}

TEST(ListScheduler, FillsNoLatencyWithWhatWaitsForAnEarlierLoad) {
  // As above, but a load of an earlier block brings what LOP3 reads.
  BlockLiveness liveness;
  liveness.live_in.set(50);
  liveness.loaded_in.set(50);
  const auto order = schedule(
      {make(Opcode::FFMA, r(1), {r(0)}), make(Opcode::FADD, r(2), {r(1)}), make(Opcode::LOP3, r(3), {r(50)})},
      {}, liveness);
  EXPECT_EQ(opcodes(order), (Order{Opcode::FFMA, Opcode::FADD, Opcode::LOP3}));
}

TEST(ListScheduler, TheLongerPathGoesFirst) {
  // A MUFU chain (18 + 4 cycles) beats a lone FFMA that stands before it in the source.
  const auto order = schedule({make(Opcode::FFMA, r(1), {r(0)}), make(Opcode::MUFU_EX2, r(2), {r(0)}),
                               make(Opcode::FADD, r(3), {r(2)})},
                              {}, all_live_out());
  EXPECT_EQ(order.front().opcode, Opcode::MUFU_EX2);
}

TEST(ListScheduler, WhatTheSourceHasFirstMayCountToo) {
  std::vector<Instruction> code(20, make(Opcode::FADD, r(1), {r(1)}));
  code.push_back(make(Opcode::MUFU_EX2, r(2), {r(0)}));
  for (int i = 0; i < 20; ++i) {
    code.push_back(make(Opcode::FADD, r(2), {r(2)}));
  }
  CompilerTarget target;
  target.source_order_cycles = 0;
  EXPECT_EQ(schedule(code, target, all_live_out()).front().opcode, Opcode::MUFU_EX2);
  target.source_order_cycles = 5;
  EXPECT_EQ(schedule(code, target, all_live_out()).front().opcode, Opcode::FADD);
}

TEST(ListScheduler, ExponentialsAreAsFarApartAsTheOrderCountsOn) {
  CompilerTarget target;
  target.fma_interval = 1;
  for (const int apart : {8, 10}) {
    target.xu_order_interval = apart;
    std::vector<Instruction> code = {make(Opcode::MUFU_EX2, r(1), {r(0)}),
                                     make(Opcode::MUFU_EX2, r(2), {r(0)})};
    for (int i = 0; i < 20; ++i) {
      code.push_back(make(Opcode::FFMA, r(10 + i), {r(0)}));
    }
    const auto order = opcodes(schedule(code, target, all_live_out()));
    const auto first = std::ranges::find(order, Opcode::MUFU_EX2);
    EXPECT_EQ(std::find(first + 1, order.end(), Opcode::MUFU_EX2) - first, apart);
  }
}

TEST(ListScheduler, WhatNobodyReadsStaysWhereTheSourceHasIt) {
  // MOV stands for an instruction that is known by its number only; what is around it has longer paths.
  std::vector<Instruction> code;
  for (int i = 0; i < 8; ++i) {
    code.push_back(make(Opcode::FFMA, r(10 + i), {r(0)}));
  }
  for (int i = 0; i < 8; ++i) {
    code.push_back(make(Opcode::FADD, r(10 + i), {r(10 + i)}));
  }
  code.insert(code.begin() + 1, make(Opcode::MOV, r(9), {r(0)}));
  CompilerTarget target;
  target.fma_interval = 1;
  target.source_order_cycles = 0;
  BlockLiveness liveness = all_live_out();
  EXPECT_NE(schedule(code, target, liveness)[1].opcode, Opcode::MOV) << "something behind the block reads it";
  liveness.live_out.reset(9);
  EXPECT_EQ(schedule(code, target, liveness)[1].opcode, Opcode::MOV);
}

TEST(ListScheduler, TiesKeepSourceOrder) {
  const auto order = schedule({make(Opcode::FFMA, r(1), {r(0)}), make(Opcode::FFMA, r(2), {r(0)})});
  EXPECT_EQ(order[0].destination, r(1));
  EXPECT_EQ(order[1].destination, r(2));
}

TEST(ListScheduler, ReadersGoBeforeTheNextWriter) {
  const auto order = schedule({make(Opcode::LOP3, r(2), {r(1)}), make(Opcode::MUFU_EX2, r(1), {r(0)}),
                               make(Opcode::FADD, r(3), {r(1)})});
  EXPECT_EQ(opcodes(order), (Order{Opcode::LOP3, Opcode::MUFU_EX2, Opcode::FADD}));
}

TEST(ListScheduler, HmmasKeepTheirOrder) {
  // The first HMMA waits for a load; the second could go at once and may not.
  const auto order = schedule({make(Opcode::LDSM_X4, r(20, 4), {r(0)}),
                               make(Opcode::HMMA_16816_F32, r(40, 4), {r(20, 4), r(4, 2)}),
                               make(Opcode::HMMA_16816_F32, r(50, 4), {r(8, 4), r(4, 2)})});
  EXPECT_EQ(order[1].destination, r(40, 4));
}

TEST(ListScheduler, MemoryKeepsItsOrderAndShufflesDoNot) {
  const auto order = schedule({make(Opcode::MUFU_EX2, r(1), {r(0)}), make(Opcode::STS_32, {}, {r(1)}),
                               make(Opcode::LDS_32, r(2), {r(0)}), make(Opcode::BAR_SYNC, {}),
                               make(Opcode::SHFL_BFLY, r(3), {r(0)})});
  EXPECT_EQ(opcodes(order),
            (Order{Opcode::MUFU_EX2, Opcode::SHFL_BFLY, Opcode::STS_32, Opcode::LDS_32, Opcode::BAR_SYNC}));
}

// So many HMMAs, each with its own LDSM, all loads first in the source.
std::vector<Instruction> loads_and_products(int count) {
  std::vector<Instruction> code;
  code.reserve(2 * static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    code.push_back(make(Opcode::LDSM_X4, r(100 + 4 * i, 4), {r(0)}));
  }
  for (int i = 0; i < count; ++i) {
    code.push_back(make(Opcode::HMMA_16816_F32, r(1000 + 4 * i, 4), {r(100 + 4 * i, 4), r(4, 2)}));
  }
  return code;
}

// The most loads whose products come later.
int most_waiting(const std::vector<Instruction>& order) {
  int waiting = 0;
  int most = 0;
  for (const Instruction& instruction : order) {
    waiting += instruction.opcode == Opcode::LDSM_X4 ? 1 : -1;
    most = std::max(most, waiting);
  }
  return most;
}

TEST(ListScheduler, SoManyLoadsWaitForTheirProducts) {
  CompilerTarget target;
  target.value_registers = 4000;
  for (const int loads : {4, 8, 12}) {
    target.waiting_loads = loads;
    EXPECT_EQ(most_waiting(schedule(loads_and_products(40), target)), loads);
  }
}

TEST(ListScheduler, ALoadPassesAsManyProductsAsItTakes) {
  CompilerTarget target;
  target.hmma_16816_interval = 8;
  std::vector<Instruction> code = loads_and_products(20);
  code.push_back(make(Opcode::LDSM_X4, r(300, 4), {r(0)}));
  code.push_back(make(Opcode::HMMA_16816_F32, r(1100, 4), {r(300, 4), r(4, 2)}));
  for (const int latency : {16, 24, 32}) {
    target.shared_load_latency = latency;
    const auto order = schedule(code, target);
    const auto last =
        std::ranges::find_if(order, [](const Instruction& i) { return i.destination == r(300, 4); });
    const auto is_product = [](const Instruction& i) { return i.opcode == Opcode::HMMA_16816_F32; };
    EXPECT_EQ(std::count_if(order.begin(), last, is_product), 20 - latency / 8) << latency;
  }
}

TEST(ListScheduler, RegisterLimitHoldsLoadsBack) {
  CompilerTarget target;
  target.waiting_loads = 1000;
  target.value_registers = 24;
  const auto order = schedule(loads_and_products(40), target);
  // Destinations of the HMMAs are never read, so only loaded values count: four registers each.
  int live = 0;
  int most = 0;
  for (const Instruction& instruction : order) {
    live += instruction.opcode == Opcode::LDSM_X4 ? 4 : -4;
    most = std::max(most, live);
  }
  EXPECT_LE(most, 24);
  EXPECT_GE(most, 16);
}

TEST(ListScheduler, AtMostSixPredicatesLive) {
  std::vector<Instruction> code;
  for (int i = 0; i < 20; ++i) {
    code.push_back(make(Opcode::ISETP, p(i), {r(0)}));
    code.push_back(make(Opcode::MUFU_EX2, r(100 + i), {r(0)}));
    code.push_back(make(Opcode::FSEL, r(200 + i), {r(100 + i), p(i)}));
  }
  int live = 0;
  int most = 0;
  for (const Instruction& instruction : schedule(code)) {
    live += instruction.opcode == Opcode::ISETP ? 1 : instruction.opcode == Opcode::FSEL ? -1 : 0;
    most = std::max(most, live);
  }
  EXPECT_EQ(most, 6);
}

TEST(ListScheduler, AnImpossibleLimitStillEnds) {
  CompilerTarget target;
  target.value_registers = 2;
  EXPECT_EQ(schedule(loads_and_products(10), target).size(), 20U);
}

/// Instructions in front of the HMMA that a FADD, which it does not read, may take a register before: of two
/// chains one FADD is needed by something more urgent than the HMMA, where `urgent` says so.
bool takes_a_register_before_the_pack(int reserve, bool urgent) {
  CompilerTarget target;
  target.reserve_registers = reserve;
  target.value_registers = 8;
  std::vector<Instruction> code = {
      make(Opcode::MUFU_EX2, r(40), {r(41)}), make(Opcode::F2FP_PACK_AB, r(44), {r(40)}),
      make(Opcode::HMMA_16816_F32, r(46), {r(44), r(45), r(46)}), make(Opcode::FADD, r(50), {r(43)})};
  for (int link = 0; urgent && link < 10; ++link) {
    code.push_back(make(Opcode::FADD, r(50), {r(50)}));
  }
  BlockLiveness liveness;
  for (const std::size_t live : {41U, 43U, 45U, 46U}) {
    liveness.live_in.set(live);
    liveness.live_out.set(live);
  }
  liveness.live_out.set(50);
  const std::vector<Instruction> order = schedule(code, target, liveness);
  const auto is_pack = [](const Instruction& instruction) {
    return instruction.opcode == Opcode::F2FP_PACK_AB;
  };
  const auto in_chain = [](const Instruction& instruction) { return instruction.destination.first == 50; };
  return std::ranges::find_if(order, in_chain) < std::ranges::find_if(order, is_pack);
}

TEST(ListScheduler, RegistersAreKeptForTheNextProducts) {
  EXPECT_TRUE(takes_a_register_before_the_pack(0, false));
  EXPECT_FALSE(takes_a_register_before_the_pack(4, false));
  EXPECT_TRUE(takes_a_register_before_the_pack(4, true)) << "what is more urgent takes them";
}

TEST(ListScheduler, TimeBetweenProductsIsNotFilledWithWhatIsLessUrgent) {
  // Four products and four sums that nothing needs soon.
  std::vector<Instruction> code;
  for (int i = 0; i < 4; ++i) {
    code.push_back(make(Opcode::HMMA_16816_F32, r(60 + i), {r(40), r(41), r(60 + i)}));
    code.push_back(make(Opcode::FADD, r(70 + i), {r(50)}));
  }
  const auto sums_before_last_product = [&](int early) {
    CompilerTarget target;
    target.hmma_early_cycles = early;
    target.source_order_cycles = 0;
    const std::vector<Opcode> order = opcodes(schedule(code, target, all_live_out()));
    const auto last = std::ranges::find_end(order, Order{Opcode::HMMA_16816_F32}).begin();
    return std::count(order.begin(), last, Opcode::FADD);
  };
  EXPECT_EQ(sums_before_last_product(0), 4);
  EXPECT_EQ(sums_before_last_product(8 - CompilerTarget{}.lanes_behind_hmma), 1)
      << "the last one is no more urgent than they are";
}

}  // namespace
}  // namespace warpscope::tests
