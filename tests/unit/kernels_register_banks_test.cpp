// Results go to the bank in which they collide least with what is read beside them; what is computed stays.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "kernels/compiler/register_banks.hpp"

namespace warpscope::kernels {
namespace {

using trace::Instruction;
using trace::Opcode;
using trace::RegisterRange;

Instruction instruction(Opcode opcode, RegisterRange destination, std::vector<RegisterRange> sources) {
  Instruction result;
  result.opcode = opcode;
  result.destination = destination;
  std::ranges::copy(sources, result.sources.begin());
  return result;
}

RegisterRange one(int number) {
  return {static_cast<std::uint16_t>(number), 1};
}

/// A block, and one behind it that reads R100 and the four registers from R200 on.
VirtualProgram program_with(std::vector<Instruction> code) {
  VirtualProgram program;
  program.blocks.resize(2);
  program.blocks[0].code = std::move(code);
  program.blocks[1].code = {instruction(Opcode::STG_128, {}, {one(100), {200, 4}})};
  return program;
}

bool in_one_bank(const Instruction& read) {
  return read.sources[0].first % 2 == read.sources[1].first % 2;
}

TEST(RegisterBanks, ASumChangesItsBankWithWhatIsAdded) {
  std::vector<Instruction> code;
  for (const int added : {20, 21, 22, 24, 25, 27}) {
    code.push_back(instruction(Opcode::FADD, one(100), {one(100), one(added)}));
  }
  ASSERT_TRUE(in_one_bank(code[2]));
  VirtualProgram program = program_with(code);
  spread_over_banks(program);
  const std::vector<Instruction>& renamed = program.blocks[0].code;
  for (std::size_t i = 1; i < renamed.size(); ++i) {
    EXPECT_FALSE(in_one_bank(renamed[i])) << i;
    EXPECT_EQ(renamed[i].sources[0], renamed[i - 1].destination) << i;
    EXPECT_EQ(renamed[i].sources[1], code[i].sources[1]) << "comes from outside the block";
  }
  EXPECT_EQ(renamed.back().destination, one(100)) << "read behind the block";
}

TEST(RegisterBanks, OperandsOfProductsStayTogether) {
  VirtualProgram program = program_with({instruction(Opcode::FMUL, one(60), {one(20)}),
                                         instruction(Opcode::FADD, one(61), {one(60), one(22)}),
                                         instruction(Opcode::HMMA_1688_F32, {200, 4}, {{60, 2}, one(30)})});
  const std::vector<Instruction> before = program.blocks[0].code;
  spread_over_banks(program);
  EXPECT_EQ(program.blocks[0].code, before);
}

TEST(RegisterBanks, WhatAGuardedInstructionMayLeaveStays) {
  const RegisterRange guard{trace::kFirstPredicate, 1};
  VirtualProgram program = program_with({instruction(Opcode::FMUL, one(60), {one(20)}),
                                         instruction(Opcode::FMUL, one(60), {one(21), guard}),
                                         instruction(Opcode::FADD, one(61), {one(60), one(22)})});
  const std::vector<Instruction> before = program.blocks[0].code;
  spread_over_banks(program);
  EXPECT_EQ(program.blocks[0].code, before);
}

/// For each register read, which instruction wrote it; -1: it comes from before.
std::vector<int> writers(const VirtualProgram& program) {
  std::vector<int> result;
  std::map<int, int> last;
  int index = 0;
  for (const BasicBlock& block : program.blocks) {
    for (const Instruction& read : block.code) {
      for (const RegisterRange& source : read.sources) {
        for (int r = 0; r < source.count; ++r) {
          const auto found = last.find(source.first + r);
          result.push_back(found == last.end() ? -1 : found->second);
        }
      }
      for (int r = 0; r < read.destination.count; ++r) {
        last[read.destination.first + r] = index;
      }
      ++index;
    }
  }
  return result;
}

TEST(RegisterBanks, NothingElseIsComputed) {
  std::mt19937 random(7);
  const auto some = [&](int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); };
  int changed = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Instruction> code;
    for (int i = 0; i < 40; ++i) {
      const int kind = some(0, 9);
      if (kind == 0) {
        code.push_back(instruction(Opcode::HMMA_16816_F32, {200, 4}, {{40, 4}, {44, 2}, {200, 4}}));
      } else {
        const Opcode opcode = kind < 6 ? Opcode::FADD : kind < 8 ? Opcode::FMNMX : Opcode::MUFU_EX2;
        code.push_back(instruction(opcode, one(some(0, 9) == 0 ? 100 : some(40, 52)),
                                   {one(some(40, 52)), one(some(0, 4) == 0 ? 100 : some(40, 52))}));
      }
    }
    VirtualProgram program = program_with(code);
    const std::vector<int> before = writers(program);
    spread_over_banks(program);
    EXPECT_EQ(writers(program), before) << round;
    changed += program.blocks[0].code == code ? 0 : 1;
  }
  EXPECT_GT(changed, 150);
}

}  // namespace
}  // namespace warpscope::kernels
