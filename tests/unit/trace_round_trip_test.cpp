// What is written reads back as the same trace.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "model/trace/text_reader.hpp"
#include "model/trace/text_writer.hpp"
#include "tests/unit/trace_random.hpp"

namespace warpscope::trace {
namespace {

Trace parse(const std::string& text) {
  std::istringstream input(text);
  return read_text(input, "test");
}

TEST(TraceRoundTrip, RandomTraces) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    const Trace trace = random_trace(seed);
    const std::string text = to_text(trace);
    ASSERT_EQ(parse(text), trace) << "seed " << seed << "\n" << text;
    ASSERT_EQ(to_text(parse(text)), text) << "seed " << seed;
  }
}

TEST(TraceRoundTrip, EmptyTrace) {
  EXPECT_EQ(parse(to_text(Trace{})), Trace{});
}

TEST(TraceRoundTrip, ClassTablesOfAnyPatternAndLength) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    Trace trace =
        parse("warpscope_trace 1\nlaunch l {\n program p {\n EXIT\n }\n class programs=p\n}\nend\n");
    Launch& launch = trace.launches[0];
    launch.classes.resize(40, launch.classes[0]);
    std::vector<std::uint32_t>& table = launch.class_of_block[1];
    while (table.size() < 300) {
      const auto start = static_cast<std::uint32_t>(random.between(8, 30));
      const auto step = static_cast<std::uint32_t>(random.between(-1, 1));
      for (std::int64_t n = random.between(1, 8), i = 0; i < n; ++i) {
        table.push_back(start + static_cast<std::uint32_t>(i) * step);
      }
    }
    launch.grid[1] = static_cast<std::uint32_t>(table.size());
    ASSERT_EQ(parse(to_text(trace)), trace);
  }
}

TEST(TraceRoundTrip, LongTablesStayShort) {
  Trace trace = parse("warpscope_trace 1\nlaunch l {\n program p {\n EXIT\n }\n class programs=p\n}\nend\n");
  Launch& launch = trace.launches[0];
  launch.classes.resize(128, launch.classes[0]);
  launch.grid = {2000, 128, 1};
  launch.class_of_block[0].assign(2000, 0);
  for (std::uint32_t y = 0; y < 128; ++y) {
    launch.class_of_block[1].push_back(127 - y);
  }
  const std::string text = to_text(trace);
  EXPECT_NE(text.find("  class_x 0*2000\n"), std::string::npos);
  EXPECT_NE(text.find("  class_y 127..0\n"), std::string::npos);
  EXPECT_EQ(parse(text), trace);
}

TEST(TraceRoundTrip, SettingsHaveDefaultsAndSpacingIsFree) {
  const Trace trace = parse(
      "# first line\r\n  warpscope_trace\t1 # version\n\nlaunch l{\r\nprogram p{\nloop n=slot0 {\n"
      "FFMA R1,R2 , R3:2,P1,- {stall=3 wait=0,5}\nBRA\n }  # closes\n EXIT\n}\nclass programs=p "
      "trips=7\n}\nend");
  const Launch& launch = trace.launches[0];
  EXPECT_EQ(launch.threads_per_cta, 32U);
  EXPECT_EQ(launch.grid, (std::array<std::uint32_t, 3>{1, 1, 1}));
  const Instruction& ffma = launch.programs[0].code[0];
  EXPECT_EQ(ffma.destination, (RegisterRange{1, 1}));
  EXPECT_EQ(ffma.sources[1], (RegisterRange{3, 2}));
  EXPECT_EQ(ffma.sources[2], (RegisterRange{kFirstPredicate + 1, 1}));
  EXPECT_EQ(ffma.sources[3], RegisterRange{});
  EXPECT_EQ(ffma.control, (ControlBits{3, kNoScoreboard, kNoScoreboard, 0b100001}));
  EXPECT_EQ(launch.programs[0].loops[0], (Loop{0, 2, 0, {}}));
}

TEST(TraceRoundTrip, BranchesSayHowFarTheyJump) {
  const std::string lines = "    BRA 160, -, P3\n    BRA\n    BRA 5\n    EXIT\n";
  const Trace trace =
      parse("warpscope_trace 1\nlaunch l {\n  program p {\n" + lines + "  }\n  class programs=p\n}\nend\n");
  const std::vector<Instruction>& code = trace.launches[0].programs[0].code;
  EXPECT_EQ(code[0].immediate, 160);
  EXPECT_EQ(code[0].sources[0], (RegisterRange{kFirstPredicate + 3, 1}));
  EXPECT_EQ(code[1].immediate, 0);
  EXPECT_EQ(code[2].immediate, 5);
  EXPECT_NE(to_text(trace).find(lines), std::string::npos);
}

TEST(TraceRoundTrip, AddressTermsMeanWhatTheySay) {
  const Trace trace = parse(
      "warpscope_trace 1\ntensor K input segments=2 segment_bytes=4096\nlaunch l {\n program p {\n"
      "  loop n=slot0 {\n   LDG.128 R0:4, R8 [K segment=y/4*2-1 offset=-warp*512+sym1*3-i0+7 bytes=64]\n   "
      "BRA\n  }\n"
      "  EXIT\n }\n class programs=p trips=1 symbols=5,6\n}\nend\n");
  const MemoryOperand& operand = trace.launches[0].programs[0].memory_operands.at(0);
  AffineIndex segment;
  segment.offset = -1;
  segment.per_block[1] = 2;
  segment.block_divisor[1] = 4;
  AffineIndex offset;
  offset.offset = 7;
  offset.per_warp = -512;
  offset.per_iteration[0] = -1;
  offset.symbol = 1;
  offset.per_symbol = 3;
  EXPECT_EQ(operand.segment, segment);
  EXPECT_EQ(operand.offset, offset);
  EXPECT_EQ(operand.bytes, 64U);
}

TEST(TraceRoundTrip, LinesOfSeveralSegmentsAreKept) {
  const std::string text =
      "warpscope_trace 1\ntensor K input segments=4 segment_bytes=4096 line_segments=2\n"
      "tensor V input segments=4 segment_bytes=4096\nlaunch l {\n program p {\n  EXIT\n }\n"
      " class programs=p\n}\nend\n";
  const Trace trace = parse(text);
  EXPECT_EQ(trace.tensors[0].line_segments, 2);
  EXPECT_EQ(trace.tensors[1].line_segments, 1);
  EXPECT_EQ(parse(to_text(trace)), trace);
}

TEST(TraceRoundTrip, InterleavedSegmentsAreKept) {
  const std::string text =
      "warpscope_trace 1\ntensor K input segments=8 segment_bytes=4096 interleaved_segments=4 "
      "line_segments=2\n"
      "tensor V input segments=4 segment_bytes=4096 interleaved_segments=2\nlaunch l {\n program p {\n  "
      "EXIT\n }\n"
      " class programs=p\n}\nend\n";
  const Trace trace = parse(text);
  EXPECT_EQ(trace.tensors[0].interleaved_segments, 4);
  EXPECT_EQ(trace.tensors[0].line_segments, 2);
  EXPECT_EQ(trace.tensors[1].interleaved_segments, 2);
  EXPECT_EQ(parse(to_text(trace)), trace);
}

TEST(TraceRoundTrip, RowsThatFillLinesTogetherAreKept) {
  const std::string text =
      "warpscope_trace 1\ntensor K input segments=4 segment_bytes=1920 line_segments=2 row_bytes=192\n"
      "launch l {\n program p {\n  EXIT\n }\n class programs=p\n}\nend\n";
  const Trace trace = parse(text);
  EXPECT_EQ(trace.tensors[0].row_bytes, 192);
  EXPECT_EQ(parse(to_text(trace)), trace);
}

TEST(TraceRoundTrip, AbsentBytesAreKept) {
  const std::string text =
      "warpscope_trace 1\ntensor K input segments=4 segment_bytes=4096 line_segments=2 absent_bytes=512\n"
      "tensor V input segments=4 segment_bytes=4096 absent_bytes=1024\nlaunch l {\n program p {\n  EXIT\n }\n"
      " class programs=p\n}\nend\n";
  const Trace trace = parse(text);
  EXPECT_EQ(trace.tensors[0].absent_bytes, 512);
  EXPECT_EQ(trace.tensors[0].line_segments, 2);
  EXPECT_EQ(trace.tensors[1].absent_bytes, 1024);
  EXPECT_EQ(parse(to_text(trace)), trace);
}

TEST(TraceRoundTrip, ExamplesOfTheRepositoryAreReadable) {
  std::size_t read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(WARPSCOPE_SOURCE_DIR "/experiments/traces")) {
    if (entry.path().extension() != ".trace") {
      continue;
    }
    if (entry.path().filename() == "deadlock_barrier_mismatch.trace") {
      EXPECT_THROW(read_text_file(entry.path()), TraceError);
      continue;
    }
    const Trace trace = read_text_file(entry.path());
    EXPECT_EQ(parse(to_text(trace)), trace) << entry.path();
    ++read;
  }
  EXPECT_GE(read, 5U);
}

TEST(TraceRoundTrip, ExampleOfTheFormatDescriptionIsReadable) {
  std::ifstream input(WARPSCOPE_SOURCE_DIR "/model/trace/FORMAT.md");
  std::stringstream whole;
  whole << input.rdbuf();
  const std::string text = whole.str();
  const std::size_t begin = text.find("```\nwarpscope_trace") + 4;
  const Trace trace = parse(text.substr(begin, text.find("```", begin) - begin));
  EXPECT_EQ(trace.launches.at(0).classes.size(), 2U);
}

TEST(TraceRoundTrip, MissingFileIsAnError) {
  EXPECT_THROW(read_text_file("no/such/file.trace"), TraceError);
  EXPECT_THROW(read_text_file(WARPSCOPE_SOURCE_DIR), TraceError);
}

}  // namespace
}  // namespace warpscope::trace
