// Rules that a trace built in memory can break: how it is made up.
#include <gtest/gtest.h>

#include "model/trace/trace_limits.hpp"
#include "tests/unit/damaged_trace.hpp"
#include "tests/unit/trace_random.hpp"

namespace warpscope::trace {
namespace {

TEST(TraceValidate, AcceptsTheUndamagedTrace) {
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram&) {}), "accepted");
}

TEST(TraceValidate, Tensors) {
  EXPECT_EQ(error_after([](Trace& t, Launch&, WarpProgram&) { t.tensors[0].segments = 0; }),
            "tensor 'K', segments '0': 1 to 2147483648");
  EXPECT_EQ(error_after([](Trace& t, Launch&, WarpProgram&) { t.tensors[0].absent_bytes = -1; }),
            "tensor 'K', absent_bytes '-1': at least 0, and no more than the tensor has");
  const auto with_interleaved = [](std::int64_t segments, std::int64_t interleaved_segments) {
    return error_after([=](Trace& t, Launch&, WarpProgram&) {
      t.tensors[0].segments = segments;
      t.tensors[0].interleaved_segments = interleaved_segments;
    });
  };
  EXPECT_EQ(with_interleaved(6, 3), "accepted");
  EXPECT_EQ(with_interleaved(6, 4),
            "tensor 'K', interleaved_segments '4': at least 1, a divisor of segments");
  EXPECT_EQ(with_interleaved(6, 0),
            "tensor 'K', interleaved_segments '0': at least 1, a divisor of segments");
  EXPECT_EQ(error_after([](Trace& t, Launch&, WarpProgram&) { t.tensors[0].line_segments = 65; }),
            "tensor 'K', line_segments '65': 1 to 64");
  const auto with_rows = [](std::int64_t line_segments, std::int64_t segment_bytes, std::int64_t row_bytes) {
    return error_after([=](Trace& t, Launch&, WarpProgram&) {
      t.tensors[0].line_segments = line_segments;
      t.tensors[0].segment_bytes = segment_bytes;
      t.tensors[0].row_bytes = row_bytes;
    });
  };
  const std::string legal = "a divisor of segment_bytes, where line_segments is 2 or more";
  EXPECT_EQ(with_rows(2, 1920, 192), "accepted");
  EXPECT_EQ(with_rows(1, 1920, 192), "tensor 'K', row_bytes '192': " + legal);
  EXPECT_EQ(with_rows(3, 1920, 192), "accepted");
  EXPECT_EQ(with_rows(2, 1921, 192), "tensor 'K', row_bytes '192': " + legal);
  EXPECT_EQ(with_rows(2, 1920, -192), "tensor 'K', row_bytes '-192': " + legal);
  EXPECT_EQ(error_after([](Trace& t, Launch&, WarpProgram&) { t.tensors[0].segment_bytes = -5; }),
            "tensor 'K', segment_bytes '-5': at least 1");
  EXPECT_EQ(
      error_after([](Trace& t, Launch&, WarpProgram&) { t.tensors[0].segment_bytes = INT64_MAX; }),
      "tensor 'K', segments * segment_bytes '2 * 9223372036854775807': all tensors together have at most "
      "2^48 bytes");
  EXPECT_EQ(error_after([](Trace& t, Launch&, WarpProgram&) { t.tensors[0].segments = kMostSegments + 1; }),
            "tensor 'K', segments '2147483649': 1 to 2147483648");
  EXPECT_EQ(error_after([](Trace& t, Launch&, WarpProgram&) { t.tensors.push_back(t.tensors[0]); }),
            "tensor name 'K': this name is taken; names are unique");
  EXPECT_EQ(error_after([](Trace& t, Launch&, WarpProgram&) { t.tensors[0].name.clear(); }),
            "tensor name '': a name has 1 to 1000 characters");
}

TEST(TraceValidate, LaunchShape) {
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.grid[1] = 65536; }),
            "launch 'l', grid y '65536': 1 to 65535");
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.grid[0] = 0; }),
            "launch 'l', grid x '0': 1 to 2147483647");
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.threads_per_cta = 0; }),
            "launch 'l', threads per CTA '0': 1 to 1024");
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.registers_per_thread = 256; }),
            "launch 'l', registers per thread '256': 1 to 255");
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.programs.clear(); }),
            "launch 'l', programs '0': 1 to 65536");
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.programs.push_back(l.programs[0]); }),
            "launch 'l', program name 'p': this name is taken; names are unique");
}

TEST(TraceValidate, Classes) {
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.class_of_block[0].push_back(0); }),
            "launch 'l', class_x '3 entries': one per CTA of that dimension, 2, or none");
  EXPECT_EQ(
      error_after([](Trace&, Launch& l, WarpProgram&) {
        l.class_of_block[1] = {0, 1, 0};
      }),
      "launch 'l', class '2': the largest sum of class_x, class_y, class_z; 2 classes are defined, from 0");
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.classes[1].program_of_warp.push_back(0); }),
            "launch 'l', class 1, programs '3 warps': 64 threads are 2 warps");
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.classes[1].program_of_warp[1] = 7; }),
            "launch 'l', class 1, program '7': 1 are defined, from 0");
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.classes[1].trip_counts.clear(); }),
            "launch 'l', program 'p', trip slot '0': class 1 has 0 trips, from slot 0");
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) { l.classes[0].symbols.clear(); }),
            "launch 'l', program 'p', symbol '0': class 0 has 0 symbols, from 0");
}

TEST(TraceValidate, ProgramEnds) {
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.code.pop_back(); }),
            "launch 'l', program 'p', end of program 'BRA': a program ends with EXIT");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.code.clear(); }),
            "launch 'l', program 'p', end of program 'nothing': a program ends with EXIT");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.code[1] = bare(Opcode::EXIT); }),
            "launch 'l', program 'p', instruction 1 (EXIT), EXIT '1': only as the last instruction; early "
            "exits are not "
            "modelled");
}

TEST(TraceValidate, Loops) {
  const std::string at = "launch 'l', program 'p', ";
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.loops[0].end = 9; }),
            at + "loop '[0, 9)': begin < end <= 4 instructions");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.loops[0].begin = 3; }),
            at + "loop '[3, 3)': begin < end <= 4 instructions");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.loops.push_back(p.loops[0]); }),
            at + "loop '[0, 3)': must end inside [0, 3), before its closing branch");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) {
              p.loops = {{1, 3, 0, {}}, {0, 3, 0, {}}};
            }),
            at + "loop '[0, 3)': loops are sorted by their begin, outer before inner");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.loops[0].end = 2; }),
            at + "instruction 1 (BAR.SYNC), end of loop 'BAR.SYNC': a loop ends with BRA");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.code[2].immediate = 9; }),
            at + "instruction 2 (BRA), instructions jumped over '9': the BRA that ends a loop jumps back");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) {
              p.code = {bare(Opcode::BRA), bare(Opcode::EXIT)};
              p.code[0].immediate = 16385;
              p.loops.clear();
            }),
            at + "instruction 0 (BRA), instructions jumped over '16385': 0 to 16384");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.loops[0].trips_per_iteration[0] = 1; }),
            at + "loop trips 'i0': 0 loops surround loop [0, 3)");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) {
              p.code.assign(5, bare(Opcode::BRA));
              p.code.push_back(bare(Opcode::EXIT));
              p.loops = {{0, 5, 0, {}}, {0, 4, 0, {}}, {0, 3, 0, {}}, {0, 2, 0, {}}};
            }),
            at + "loop depth '4': at most 3");
  const std::string again = "loop again '[1, 3)': begins where another loop ends, whose code it goes through";
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) {
              p.loops = {{1, 3, 0, {}, true}};
            }),
            at + again);
}

TEST(TraceValidate, Operands) {
  const std::string at = "launch 'l', program 'p', ";
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.memory_operands[0].tensor = 4; }),
            at + "memory operand 0, tensor '4': 1 exist, from 0");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.memory_operands[0].bytes = 1028; }),
            at + "instruction 0 (LDG.32), bytes '1028': 0 to 1024");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.memory_operands[0].bytes = 65540; }),
            at + "memory operand 0, bytes '65540': 0 to 65536");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.memory_operands[0].wavefronts = 129; }),
            at + "memory operand 0, wavefronts '129': 0 to 128");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.memory_operands[0].lines = 33; }),
            at + "memory operand 0, lines '33': 0 to 32");
  EXPECT_EQ(
      error_after([](Trace&, Launch&, WarpProgram& p) { p.memory_operands[0].offset.block_divisor[2] = 0; }),
      at + "memory operand 0, divisor '0': at least 1");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.memory_operands[0].offset.symbol = -2; }),
            at + "memory operand 0, symbol '-2': at least 0, or -1 for none");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.memory_operands[0].segment.per_symbol = 3; }),
            at + "memory operand 0, symbol factor '3': 0 where there is no symbol");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.code[0].memory = 1; }),
            at + "instruction 0 (LDG.32), memory operand '1': 1 exist, from 0");
  EXPECT_EQ(error_after([](Trace& t, Launch&, WarpProgram&) { t.tensors[0].kind = TensorKind::local; }),
            at + "instruction 0 (LDG.32), tensor 'K': tensors of kind local are for LDL and STL only");
}

TEST(TraceValidate, ControlBits) {
  const std::string at = "launch 'l', program 'p', instruction 0 (LDG.32), ";
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) { p.code[0].control.wait_mask = 1; }),
            at + "control bits 'set': without has_control they have their default values");
  const auto with = [](ControlBits control) {
    return error_after([=](Trace&, Launch&, WarpProgram& p) {
      p.code[0].has_control = true;
      p.code[0].control = control;
    });
  };
  EXPECT_EQ(with({0, 7, 7, 0}), at + "stall '0': 1 to 15");
  EXPECT_EQ(with({1, 6, 7, 0}), at + "scoreboard '6': 0 to 5, or 7 for none");
  EXPECT_EQ(with({1, 7, 8, 0}), at + "scoreboard '8': 0 to 5, or 7 for none");
  EXPECT_EQ(with({1, 7, 7, 64}), at + "wait mask '64': 0 to 63");
}

}  // namespace
}  // namespace warpscope::trace
