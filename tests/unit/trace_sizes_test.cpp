// How large tensors, addresses, launches and counts of a trace may be.
#include <gtest/gtest.h>

#include <sstream>

#include "model/trace/trace_limits.hpp"
#include "tests/unit/damaged_trace.hpp"
#include "tests/unit/trace_random.hpp"

namespace warpscope::trace {
namespace {

TEST(TraceSizes, TensorsTogetherFitTheAddressSpace) {
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

TEST(TraceSizes, AddressesStayWithinTheAddressSpace) {
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

TEST(TraceSizes, IterationsOfInnerLoopsCountWithThoseAroundThem) {
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

TEST(TraceSizes, SizeOfLaunches) {
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

TEST(TraceSizes, InstructionsOfATrace) {
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

}  // namespace
}  // namespace warpscope::trace
