// Rules that a trace built in memory can break, and the barriers that would never open.
#include <gtest/gtest.h>

#include <functional>
#include <sstream>

#include "model/trace/text_reader.hpp"
#include "model/trace/trace_error.hpp"
#include "model/trace/trace_limits.hpp"
#include "tests/unit/trace_random.hpp"

namespace warpscope::trace {
namespace {

/// Two warps, a loop around a load from K, a class for each x.
Trace valid_trace() {
  std::istringstream input(
      "warpscope_trace 1\ntensor K input segments=2 segment_bytes=64\nlaunch l {\n grid 2 3 1\n threads 64\n"
      " program p {\n  loop n=slot0 {\n   LDG.32 R0, R1 [K offset=i0*4+sym0 bytes=4]\n   BAR.SYNC 0\n   "
      "BRA\n  }\n"
      "  EXIT\n }\n class programs=p*2 trips=1 symbols=0\n class programs=p*2 trips=2 symbols=1\n class_x 0 "
      "1\n}\nend\n");
  return read_text(input, "valid");
}

std::string error_after(const std::function<void(Trace&, Launch&, WarpProgram&)>& damage) {
  Trace trace = valid_trace();
  damage(trace, trace.launches[0], trace.launches[0].programs[0]);
  try {
    validate(trace);
  } catch (const ValidationError& error) {
    return error.what();
  }
  return "accepted";
}

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
  const std::string legal =
      "a divisor of segment_bytes, and those of line_segments, 2 or more, fill lines of 128 bytes";
  EXPECT_EQ(with_rows(2, 1920, 192), "accepted");
  EXPECT_EQ(with_rows(1, 1920, 192), "tensor 'K', row_bytes '192': " + legal);
  EXPECT_EQ(with_rows(3, 1920, 192), "tensor 'K', row_bytes '192': " + legal);
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

TEST(TraceValidate, TensorsTogetherFitTheAddressSpace) {
  const auto with_another = [](std::int64_t bytes, TensorKind kind) {
    return error_after([=](Trace& t, Launch&, WarpProgram&) { t.tensors.push_back({"L", kind, 1, bytes}); });
  };
  const std::int64_t left = kMostAddress - 2 * 64;
  EXPECT_EQ(with_another(left, TensorKind::input), "accepted");
  EXPECT_NE(with_another(left + 1, TensorKind::input), "accepted");
  EXPECT_EQ(with_another(left / kMostLocalSegments, TensorKind::local), "accepted");
  EXPECT_EQ(with_another(left / kMostLocalSegments + 1, TensorKind::local),
            "tensor 'L', segments * segment_bytes '32768 * 8589934592': all tensors together have at most "
            "2^48 bytes");
}

TEST(TraceValidate, AddressesStayWithinTheAddressSpace) {
  const std::string at = "launch 'l', program 'p', instruction 0 (LDG.32), reach of the ";
  const std::string legal = ": the sizes of its terms add up to at most 2^48";
  const auto with = [](auto change) {
    return error_after([=](Trace&, Launch& l, WarpProgram& p) { change(l, p.memory_operands[0]); });
  };
  EXPECT_EQ(with([](Launch&, MemoryOperand& o) { o.offset.offset = INT64_MAX; }),
            at + "offset '9.223e+18'" + legal);
  EXPECT_EQ(with([](Launch&, MemoryOperand& o) { o.segment.offset = INT64_MIN; }),
            at + "segment '9.223e+18'" + legal);
  // Iteration 1 of 2, warp 1 of 2, symbol 1: 4 * 1 + 1 are in the trace.
  const std::int64_t rest = kMostAddress - 5;
  EXPECT_EQ(with([=](Launch&, MemoryOperand& o) { o.offset.offset = -rest; }), "accepted");
  EXPECT_EQ(with([=](Launch&, MemoryOperand& o) { o.offset.offset = -rest - 1; }),
            at + "offset '2.815e+14'" + legal);
  EXPECT_EQ(with([=](Launch&, MemoryOperand& o) { o.offset.per_warp = rest; }), "accepted");
  EXPECT_NE(with([=](Launch&, MemoryOperand& o) { o.offset.per_warp = rest + 1; }), "accepted");
  EXPECT_EQ(with([=](Launch&, MemoryOperand& o) { o.offset.per_block[1] = rest / 2; }), "accepted");
  EXPECT_NE(with([=](Launch&, MemoryOperand& o) { o.offset.per_block[1] = rest / 2 + 1; }), "accepted");
  EXPECT_EQ(with([=](Launch&, MemoryOperand& o) {
              o.offset.per_block[1] = rest;
              o.offset.block_divisor[1] = 2;
            }),
            "accepted");
  EXPECT_EQ(with([=](Launch&, MemoryOperand& o) { o.offset.per_iteration[0] = rest + 4; }), "accepted");
  EXPECT_NE(with([=](Launch&, MemoryOperand& o) { o.offset.per_iteration[0] = rest + 5; }), "accepted");
  EXPECT_EQ(with([=](Launch& l, MemoryOperand&) { l.classes[0].symbols[0] = -rest - 1; }), "accepted");
  EXPECT_NE(with([=](Launch& l, MemoryOperand&) { l.classes[0].symbols[0] = INT64_MIN; }), "accepted");
  EXPECT_NE(with([=](Launch& l, MemoryOperand& o) {
              l.classes[0].symbols[0] = INT64_MIN;
              o.offset.per_symbol = INT64_MIN;
            }),
            "accepted");
  EXPECT_EQ(error_after([](Trace&, Launch&, WarpProgram& p) {
              p.memory_operands.push_back(p.memory_operands[0]);
              p.memory_operands[1].offset.offset = INT64_MAX;
            }),
            "launch 'l', program 'p', reach of the offset of operand 1 '9.223e+18'" + legal);
}

TEST(TraceValidate, IterationsOfInnerLoopsCountWithThoseAroundThem) {
  const auto with = [](std::int64_t factor) {
    std::istringstream input(
        "warpscope_trace 1\ntensor K input segments=1 segment_bytes=64\nlaunch l {\n program p {\n"
        "loop n=slot0 {\nloop n=slot1+i0*3 {\nLDG.32 R0, R1 [K offset=i1*" +
        std::to_string(factor) + " bytes=4]\nBRA\n}\nBRA\n}\nEXIT\n}\nclass programs=p trips=5,2\n}\nend\n");
    try {
      read_text(input, "t");
    } catch (const TraceError& error) {
      return error.line();
    }
    return std::size_t{0};
  };
  // The last of 2 + 4 * 3 inner trips has number 13.
  EXPECT_EQ(with(kMostAddress / 13), 0U);
  EXPECT_EQ(with(kMostAddress / 13 + 1), 7U);
}

TEST(TraceValidate, SizeOfLaunches) {
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram&) {
              l.grid = {0x7fffffff, 65535, 65535};
              l.class_of_block[0].clear();
            }),
            "launch 'l', CTAs of the grid '9223090559730712575': at most 2^32, 4294967296");
  const auto ctas = [](std::uint32_t x, std::uint32_t y) {
    return error_after([=](Trace&, Launch& l, WarpProgram&) {
      l.grid = {x, y, 1};
      l.class_of_block[0].clear();
    });
  };
  EXPECT_EQ(ctas(1U << 30, 4), "accepted");
  EXPECT_NE(ctas(1U << 30, 5), "accepted");
  EXPECT_EQ(
      error_after([](Trace&, Launch& l, WarpProgram&) { l.classes.resize(kMostClasses + 1, l.classes[0]); }),
      "launch 'l', classes '65537': at most 65536");
}

TEST(TraceValidate, InstructionsOfATrace) {
  const auto with = [](std::uint32_t trips, std::uint32_t ctas, std::size_t launches) {
    return error_after([=](Trace& t, Launch& l, WarpProgram&) {
      l.grid = {ctas, 1, 1};
      l.class_of_block[0].clear();
      l.classes[0].trip_counts[0] = trips;
      l.programs[0].memory_operands[0].offset.per_iteration = {};
      t.launches.resize(launches, t.launches[0]);
    });
  };
  // Two warps of 3 instructions an iteration: 6 * 2^32 of a CTA, about.
  const std::uint32_t ctas = (1U << 18) / 6;
  EXPECT_EQ(with(0xffffffff, ctas, 1), "accepted");
  EXPECT_EQ(with(0xffffffff, ctas, 2),
            "launch 'l', instructions of class 0, CTAs * warp instructions '43690 * 25769803772': a trace "
            "executes at most 2^50 warp instructions");
  EXPECT_NE(with(0xffffffff, ctas + 1, 1), "accepted");
  // Of one warp they fit 64 bits, of its CTA they do not.
  EXPECT_EQ(error_after([](Trace&, Launch& l, WarpProgram& p) {
              p.code = {bare(Opcode::BRA), bare(Opcode::BRA), bare(Opcode::EXIT)};
              p.loops = {{0, 2, 0, {}}, {0, 1, 0, {}}};
              l.threads_per_cta = 1024;
              for (CtaClass& cta_class : l.classes) {
                cta_class = {std::vector<std::uint16_t>(32, 0), {1U << 31}, {0}};
              }
            }),
            "launch 'l', instructions 'a count that exceeds 64 bits': a trace executes at most 2^50 warp "
            "instructions");
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

/// Warp 0 runs `a`, warp 1 runs `b`.
std::string error_of_pair(const std::string& a, const std::string& b, const std::string& trips) {
  std::istringstream input("warpscope_trace 1\nlaunch l {\nthreads 64\nprogram a {\n" + a +
                           "\nEXIT\n}\nprogram b {\n" + b + "\nEXIT\n}\nclass programs=a,b trips=" + trips +
                           "\n}\nend\n");
  try {
    read_text(input, "t");
  } catch (const TraceError& error) {
    return error.what();
  }
  return "accepted";
}

std::string mismatch(int barrier, const std::string& counts) {
  return "t:2: launch 'l', class 0, executions of BAR.SYNC " + std::to_string(barrier) +
         " by warps 0 and 1 '" + counts +
         "': all warps of a CTA pass a barrier equally often, or the CTA would wait forever";
}

TEST(TraceValidate, BarriersThatWouldNeverOpen) {
  const std::string loop0 = "loop n=slot0 {\nBAR.SYNC 2\nBRA\n}";
  const std::string loop1 = "loop n=slot1 {\nBAR.SYNC 2\nBRA\n}";
  EXPECT_EQ(error_of_pair(loop0, loop1, "5,5"), "accepted");
  EXPECT_EQ(error_of_pair(loop0, loop1, "5,4"), mismatch(2, "5 and 4"));
  EXPECT_EQ(error_of_pair(loop0 + "\nBAR.SYNC 2", loop1, "4,5"), "accepted");
  EXPECT_EQ(error_of_pair("BAR.SYNC 3", "BAR.SYNC 4", "0"), mismatch(3, "1 and 0"));
  EXPECT_EQ(error_of_pair("NOP", "BAR.SYNC 15", "0"), mismatch(15, "0 and 1"));
}

TEST(TraceValidate, BarriersInLoopsOfVaryingLength) {
  const std::string triangle = "loop n=slot0 {\nloop n=slot1+i0 {\nBAR.SYNC 0\nBRA\n}\nBRA\n}";
  const std::string flat = "loop n=slot2 {\nBAR.SYNC 0\nBRA\n}";
  EXPECT_EQ(error_of_pair(triangle, flat, "100000,0,4000000000"), mismatch(0, "4999950000 and 4000000000"));
  EXPECT_EQ(error_of_pair(triangle, flat, "1000,1,500500"), "accepted");
}

TEST(TraceValidate, TripsBeyondCounting) {
  const std::string cube = "loop n=slot0 {\nloop n=slot0 {\nloop n=slot0 {\nBRA\n}\nBRA\n}\nBRA\n}";
  EXPECT_EQ(error_of_pair(cube, "NOP", "4000000000"),
            "t:2: launch 'l', program 'a', class 0, trips 'a count that exceeds 64 bits': fewer trips");
  EXPECT_EQ(
      error_of_pair("loop n=slot0 {\nloop n=slot0+i0 {\nBRA\n}\nBRA\n}", "NOP", "4000000000"),
      "t:2: launch 'l', program 'a', class 0, trips 'a loop of more than 4294967295 trips': fewer trips");
}

}  // namespace
}  // namespace warpscope::trace
