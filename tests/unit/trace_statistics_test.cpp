// Static counts against walking every CTA, warp and iteration one by one.
#include "model/trace/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "model/trace/code_places.hpp"
#include "model/trace/execution_count.hpp"
#include "model/trace/text_reader.hpp"
#include "tests/unit/trace_random.hpp"

namespace warpscope::trace {
namespace {

/// Executes one warp's control flow and counts what it passes.
class Walker {
 public:
  Walker(const WarpProgram& program, const CtaClass& cta_class, OpcodeCounts& counts,
         std::vector<RequestedBytes>& bytes)
      : program_(program), class_(cta_class), counts_(counts), bytes_(bytes) {}

  void walk() { walk_range(0, static_cast<std::uint32_t>(program_.code.size()), 0); }

 private:
  void walk_range(std::uint32_t begin, std::uint32_t end, std::size_t next_loop) {
    std::uint32_t i = begin;
    while (i < end) {
      while (next_loop < program_.loops.size() && program_.loops[next_loop].begin < i) {
        ++next_loop;
      }
      if (next_loop < program_.loops.size() && program_.loops[next_loop].begin == i) {
        walk_loop(next_loop);
        i = program_.loops[next_loop].end;
        ++next_loop;
        continue;
      }
      count(program_.code[i++]);
    }
  }

  void walk_loop(std::size_t number) {
    const Loop& loop = program_.loops[number];
    std::int64_t trips = class_.trip_counts[loop.trip_slot];
    for (std::size_t k = 0; k < iterations_.size(); ++k) {
      trips += std::int64_t{loop.trips_per_iteration[k]} * iterations_[k];
    }
    for (std::int64_t i = 0; i < trips; ++i) {
      iterations_.push_back(i);
      walk_range(loop.begin, loop.end, number + 1);
      iterations_.pop_back();
    }
  }

  void count(const Instruction& instruction) {
    ++counts_[instruction.opcode];
    if (instruction.memory == kNoMemory) {
      return;
    }
    const MemoryOperand& operand = program_.memory_operands[instruction.memory];
    if (operand.tensor == kSharedMemory) {
      return;
    }
    switch (info(instruction.opcode).op_class) {
      case OpClass::global_store:
      case OpClass::bulk_store:
      case OpClass::global_reduce:
      case OpClass::local_store:
        bytes_[operand.tensor].written += operand.bytes;
        break;
      default:
        bytes_[operand.tensor].read += operand.bytes;
    }
  }

  const WarpProgram& program_;
  const CtaClass& class_;
  OpcodeCounts& counts_;
  std::vector<RequestedBytes>& bytes_;
  std::vector<std::int64_t> iterations_;
};

void walk_launch(const Launch& launch, OpcodeCounts& counts, std::vector<RequestedBytes>& bytes) {
  for (std::uint32_t z = 0; z < launch.grid[2]; ++z) {
    for (std::uint32_t y = 0; y < launch.grid[1]; ++y) {
      for (std::uint32_t x = 0; x < launch.grid[0]; ++x) {
        const CtaClass& cta_class = launch.classes[class_of(launch, x, y, z)];
        for (const std::uint16_t program : cta_class.program_of_warp) {
          Walker(launch.programs[program], cta_class, counts, bytes).walk();
        }
      }
    }
  }
}

TEST(TraceStatistics, AgreeWithWalkingEveryWarp) {
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    const Trace trace = random_trace(seed);
    OpcodeCounts counts;
    std::vector<RequestedBytes> bytes(trace.tensors.size());
    for (const Launch& launch : trace.launches) {
      walk_launch(launch, counts, bytes);
    }
    ASSERT_EQ(executed_instructions(trace), counts) << "seed " << seed;
    ASSERT_EQ(requested_bytes(trace), bytes) << "seed " << seed;
  }
}

TEST(TraceStatistics, AgreeOnEveryPairOfLoopParameters) {
  WarpProgram program;
  program.code = {bare(Opcode::NOP), bare(Opcode::BRA), bare(Opcode::BRA), bare(Opcode::EXIT)};
  for (std::uint32_t outer = 0; outer < 7; ++outer) {
    for (std::uint32_t inner = 0; inner < 7; ++inner) {
      for (std::int32_t step = -4; step <= 4; ++step) {
        program.loops = {{0, 3, 0, {}}, {0, 2, 1, {step, 0, 0}}};
        const CtaClass cta_class{{0}, {outer, inner}, {}};
        std::uint64_t expected = 0;
        for (std::int64_t i = 0; i < outer; ++i) {
          expected += static_cast<std::uint64_t>(std::max<std::int64_t>(0, inner + step * i));
        }
        EXPECT_EQ(executed_stretches(program, cta_class).at(0).count, expected) << outer << inner << step;
      }
    }
  }
}

TEST(TraceStatistics, LinesOfCodeCountOnceAndOnlyWhereTheyRun) {
  // Lines are eight instructions: the loop has the second of four, and the other program runs nowhere.
  Launch launch;
  launch.programs.resize(2);
  launch.programs[0].code.assign(25, bare(Opcode::NOP));
  launch.programs[0].loops = {{8, 16, 0, {}}};
  launch.programs[1].code.assign(80, bare(Opcode::NOP));
  launch.grid = {5, 1, 1};
  launch.classes = {{{0, 0}, {0}, {}}, {{1}, {0}, {}}};
  EXPECT_EQ(executed_code_bytes(launch), 3U * 128);
  launch.classes[0].trip_counts = {7};
  EXPECT_EQ(executed_code_bytes(launch), 4U * 128);
}

TEST(TraceStatistics, ALastIterationGoesThroughTheCodeOfItsLoop) {
  Launch launch;
  launch.programs.resize(1);
  WarpProgram& program = launch.programs[0];
  program.code.assign(38, bare(Opcode::NOP));
  program.loops = {{3, 23, 0, {}}, {23, 33, 1, {}}};
  launch.classes = {{{0}, {2, 1}, {}}};
  EXPECT_EQ(code_places(program).back(), 37U);
  EXPECT_EQ(executed_code_bytes(launch), 5U * 128);
  program.loops[1].again = true;
  const std::vector<std::uint32_t> places = code_places(program);
  EXPECT_EQ(places[22], 22U) << "the branch of the loop";
  EXPECT_EQ(places[23], 3U);
  EXPECT_EQ(places[32], 12U);
  EXPECT_EQ(places[33], 23U);
  EXPECT_EQ(places.back(), 27U);
  EXPECT_EQ(executed_code_bytes(launch), 4U * 128);
}

TEST(TraceStatistics, SeveralLoopsInARowGoThroughTheCodeOfTheFirst) {
  WarpProgram program;
  program.code.assign(40, bare(Opcode::NOP));
  program.loops = {{2, 12, 0, {}}, {12, 22, 0, {}, true}, {22, 32, 0, {}, true}};
  const std::vector<std::uint32_t> places = code_places(program);
  EXPECT_EQ(places[12], 2U);
  EXPECT_EQ(places[22], 2U);
  EXPECT_EQ(places[31], 11U);
  EXPECT_EQ(places.back(), 19U);
}

TEST(TraceStatistics, WhatABranchJumpsOverHasPlaces) {
  Launch launch;
  launch.programs.resize(1);
  WarpProgram& program = launch.programs[0];
  program.code.assign(12, bare(Opcode::NOP));
  program.code[3] = bare(Opcode::BRA);
  launch.classes = {{{0}, {}, {}}};
  EXPECT_EQ(code_places(program).back(), 11U);
  EXPECT_EQ(executed_code_bytes(launch), 2U * 128);
  program.code[3].immediate = 40;
  const std::vector<std::uint32_t> places = code_places(program);
  EXPECT_EQ(places[3], 3U);
  EXPECT_EQ(places[4], 44U);
  EXPECT_EQ(places.back(), 51U);
  EXPECT_EQ(executed_code_bytes(launch), 3U * 128) << "0 to 3 and 44 to 51: lines 0, 5 and 6";
}

TEST(TraceStatistics, ProgramsThatOnlyAccessOtherPlacesAreOneText) {
  Launch launch;
  launch.programs.resize(3);
  for (WarpProgram& program : launch.programs) {
    program.code.assign(10, bare(Opcode::NOP));
  }
  launch.programs[0].memory_operands.resize(1);
  launch.programs[1].code.back().operation = 1;
  EXPECT_EQ(code_places(launch), (std::vector<std::uint32_t>{0,  1,  2,  3,  4,  5,  6,  7,  8,  9,   //
                                                             10, 11, 12, 13, 14, 15, 16, 17, 18, 19,  //
                                                             0,  1,  2,  3,  4,  5,  6,  7,  8,  9}));
}

TEST(TraceStatistics, TensorPipeIsUsedByMatrixInstructions) {
  Launch launch;
  launch.programs.resize(2);
  launch.programs[0].code = {bare(Opcode::NOP), bare(Opcode::EXIT)};
  launch.programs[1].code = {bare(Opcode::FFMA), bare(Opcode::EXIT)};
  EXPECT_FALSE(uses_tensor_pipe(launch));
  launch.programs[1].code[0] = bare(Opcode::HMMA_16816_F32);
  EXPECT_TRUE(uses_tensor_pipe(launch));
}

TEST(TraceStatistics, HugeGridsAndTripsTakeNoTime) {
  std::istringstream text(
      "warpscope_trace 1\nlaunch big {\n grid 2000000 1000 1\n program p {\n  loop n=slot0 {\n   BRA\n  "
      "}\n  EXIT\n"
      " }\n class programs=p trips=500000\n}\nend\n");
  const OpcodeCounts counts = executed_instructions(read_text(text, "big"));
  EXPECT_EQ(counts.at(Opcode::BRA), 1'000'000'000'000'000U);
  EXPECT_EQ(counts.at(Opcode::EXIT), 2'000'000'000U);
  EXPECT_EQ(total(counts), 1'000'002'000'000'000U);
}

TEST(TraceStatistics, CountsBeyond64BitsAreRefused) {
  std::istringstream text(
      "warpscope_trace 1\nlaunch big {\n grid 1 1 1\n program p {\n  loop n=slot0 {\n   "
      "BRA\n  }\n"
      "  EXIT\n }\n class programs=p trips=4000000000\n}\nend\n");
  Trace trace = read_text(text, "big");
  trace.launches[0].grid = {2'000'000'000, 60'000, 60'000};
  EXPECT_THROW(executed_instructions(trace), std::invalid_argument);
}

TEST(TraceStatistics, ClassesAreCountedOverAllThreeTables) {
  Launch launch;
  launch.grid = {3, 2, 5};
  launch.classes.resize(4);
  launch.class_of_block = {{{0, 1, 2}, {0, 1}, {}}};
  EXPECT_EQ(ctas_per_class(launch), (std::vector<std::uint64_t>{5, 10, 10, 5}));
}

// Every sum of two entries occurs: 2^30 pairs of them.
TEST(TraceStatistics, LargeClassTablesAreCounted) {
  constexpr std::uint32_t kEntries = 32768;
  Launch launch;
  launch.grid = {kEntries, kEntries, 1};
  launch.classes.resize(2 * kEntries - 1);
  for (std::uint32_t i = 0; i < kEntries; ++i) {
    launch.class_of_block[0].push_back(i);
    launch.class_of_block[1].push_back(i);
  }
  const std::vector<std::uint64_t> ctas = ctas_per_class(launch);
  for (std::uint64_t c = 0; c < ctas.size(); c += 1000) {
    EXPECT_EQ(ctas[c], std::min<std::uint64_t>(c + 1, ctas.size() - c));
  }
}

}  // namespace
}  // namespace warpscope::trace
