// Every kind of mistake in a trace file gets its own message, with the line, the value and what is legal.
#include <gtest/gtest.h>

#include <sstream>

#include "model/trace/text_reader.hpp"

namespace warpscope::trace {
namespace {

std::string error_of(const std::string& text) {
  std::istringstream input(text);
  try {
    read_text(input, "t");
  } catch (const TraceError& error) {
    return error.what();
  }
  return "accepted";
}

/// A file whose program consists of `body`, which starts on line 5.
std::string in_program(const std::string& body) {
  return error_of("warpscope_trace 1\ntensor K input segments=2 segment_bytes=64\nlaunch l {\nprogram p {\n" +
                  body + "\nEXIT\n}\nclass programs=p trips=1 symbols=0\n}\nend\n");
}

/// A file whose launch holds `line` on line 7, behind a program p.
std::string in_launch(const std::string& line) {
  return error_of("warpscope_trace 1\n\nlaunch l {\nprogram p {\nEXIT\n}\n" + line + "\n}\nend\n");
}

std::string at_top(const std::string& text) {
  return error_of("warpscope_trace 1\n" + text);
}

TEST(TraceReaderErrors, Header) {
  const std::string legal = "expected `warpscope_trace 1` before anything else";
  EXPECT_EQ(error_of(""), "t:0: end of file in 'header': " + legal);
  EXPECT_EQ(error_of("# nothing\n"), "t:1: end of file in 'header': " + legal);
  EXPECT_EQ(error_of("tensor K\n"), "t:1: header 'tensor': " + legal);
  EXPECT_EQ(error_of("\x7f"
                     "ELF\n"),
            "t:1: header '\\x7fELF': " + legal);
  EXPECT_EQ(error_of("warpscope_trace 2\n"), "t:1: format version '2': expected an integer from 1 to 1");
  EXPECT_EQ(error_of("warpscope_trace\n"),
            "t:1: format version 'end of line': expected an integer from 1 to 1");
}

TEST(TraceReaderErrors, TopLevel) {
  EXPECT_EQ(at_top("lunch l {\n"), "t:2: statement 'lunch': expected tensor, launch or end");
  EXPECT_EQ(at_top("}\n"), "t:2: statement '}': expected tensor, launch or end");
  EXPECT_EQ(at_top("\n"), "t:2: end of file in 'trace': expected the line `end`");
  EXPECT_EQ(at_top("end\nend\n"), "t:3: after end 'end': expected the end of the file");
  EXPECT_EQ(at_top("launch l\n"), "t:2: after the launch's name 'end of line': expected '{' here");
  EXPECT_EQ(at_top("launch 7 {\n"),
            "t:2: launch name '7': expected a word that starts with a letter, or a string in double quotes");
  EXPECT_EQ(at_top("launch \"l {\n"), "t:2: launch name '\\\"l {': expected a closing double quote");
  EXPECT_EQ(at_top("launch \"l\\n\" {\n"),
            "t:2: launch name '\\\"l\\\\': the escapes are \\\", \\\\ and \\x00 to \\xff");
}

TEST(TraceReaderErrors, Tensor) {
  const std::string legal =
      "expected tensor NAME KIND segments=N segment_bytes=N [interleaved_segments=N] "
      "[line_segments=N [row_bytes=N]] [absent_bytes=N]";
  EXPECT_EQ(at_top("tensor K inpt\n"), "t:2: tensor kind 'inpt': expected input, output, scratch or local");
  EXPECT_EQ(at_top("tensor K input\n"), "t:2: tensor 'end of line': " + legal);
  EXPECT_EQ(at_top("tensor K input segments=1 bytes=2\n"), "t:2: tensor 'bytes': " + legal);
  EXPECT_EQ(at_top("tensor K input segments=0 segment_bytes=2\n"),
            "t:2: segments '0': expected an integer from 1 to 9223372036854775807");
  EXPECT_EQ(at_top("tensor K input segments=1 segment_bytes=1e3\n"),
            "t:2: segment_bytes '1e3': expected an integer from 1 to 9223372036854775807");
  EXPECT_EQ(at_top("tensor K input segments=1 segment_bytes=3 4\n"), "t:2: tensor '4': " + legal);
  EXPECT_EQ(at_top("tensor K input segments=1 segment_bytes=3 line_segments=2 4\n"),
            "t:2: after the tensor '4': expected the end of the line");
  const std::string tensor = "tensor K input segments=1 segment_bytes=2\n";
  EXPECT_EQ(at_top(tensor + tensor), "t:3: tensor 'K': this name is taken; names of tensors are unique");
}

TEST(TraceReaderErrors, Truncated) {
  EXPECT_EQ(at_top("launch l {\ngrid 1 1 1\n"),
            "t:3: end of file in 'launch l': expected the closing } of the launch opened on line 2");
  EXPECT_EQ(at_top("launch l {\nprogram p {\nEXIT\n"),
            "t:4: end of file in program 'p': expected the closing } of the program opened on line 3");
  EXPECT_EQ(at_top("launch l {\nprogram p {\nloop n=slot0 {\nBRA\n"),
            "t:5: end of file in the loop opened on line '4': expected its closing }");
  EXPECT_EQ(at_top("launch l {\nprogram p {\nEXIT\n}\nclass programs=p\n}\n"),
            "t:7: end of file in 'trace': expected the line `end`");
}

TEST(TraceReaderErrors, Launch) {
  EXPECT_EQ(in_launch("blocks 3"),
            "t:7: statement 'blocks': expected grid, threads, registers, shared, mbarriers, class, class_x, "
            "class_y, class_z, "
            "program or }");
  EXPECT_EQ(in_launch("grid 1 1"),
            "t:7: grid extent 'end of line': expected an integer from 1 to 4294967295");
  EXPECT_EQ(in_launch("grid 1 1 1 1"), "t:7: after grid '1': expected the end of the line");
  EXPECT_EQ(in_launch("grid 1 0 1"), "t:7: grid extent '0': expected an integer from 1 to 4294967295");
  EXPECT_EQ(in_launch("grid 1 -2 1"), "t:7: grid extent '-2': expected an integer from 1 to 4294967295");
  EXPECT_EQ(in_launch("threads 1025"), "t:7: threads '1025': expected an integer from 1 to 1024");
  EXPECT_EQ(in_launch("shared 5000000000"),
            "t:7: shared '5000000000': expected an integer from 0 to 4294967295");
  EXPECT_EQ(in_launch("program p {\nEXIT\n}"),
            "t:7: program 'p': this name is taken; names of programs are unique in a launch");
}

TEST(TraceReaderErrors, Classes) {
  EXPECT_EQ(in_launch("class p"),
            "t:7: class 'p': expected class programs=NAME*4,NAME trips=1,2 symbols=0,1");
  EXPECT_EQ(in_launch("class programs=q"),
            "t:7: program 'q': unknown; its `program` block must stand above in this launch");
  EXPECT_EQ(in_launch("class programs=p*33"), "t:7: list '33 values': at most 32 in all");
  EXPECT_EQ(in_launch("class programs=p*0"),
            "t:7: run length '0': expected an integer from 1 to 18446744073709551615");
  EXPECT_EQ(in_launch("class programs=p trips=-1"),
            "t:7: trip count '-1': expected an integer from 0 to 4294967295");
  EXPECT_EQ(in_launch("class programs=p trips=1*70000"), "t:7: list '70000 values': at most 65536 in all");
  EXPECT_EQ(in_launch("class programs=p symbols=1 trips=1"),
            "t:7: after class 'trips': expected the end of the line");
  EXPECT_EQ(in_launch("class_x 0*4294967295"),
            "t:7: list '4294967295 values': a file may spell at most 67108864 in all");
  EXPECT_EQ(in_launch("class_y 0..4294967295"),
            "t:7: list '4294967296 values': a file may spell at most 67108864 in all");
  EXPECT_EQ(in_launch("class_z a"), "t:7: class 'a': expected an integer from 0 to 4294967295");
}

TEST(TraceReaderErrors, Opcode) {
  EXPECT_EQ(in_program("LDMS.x4 R0"), "t:5: opcode 'LDMS.x4': unknown; the nearest is LDSM.x4");
  EXPECT_EQ(in_program("ffma R0"), "t:5: opcode 'ffma': unknown; the nearest is FFMA");
  EXPECT_EQ(in_program("HMMA.16816.F16 R0"),
            "t:5: opcode 'HMMA.16816.F16': unknown; the nearest is HMMA.16816.F32");
  EXPECT_EQ(in_program("-1"), "t:5: statement '-1': expected an opcode, loop, operand or }");
}

TEST(TraceReaderErrors, Registers) {
  const std::string legal = "expected R0 .. R4095, P0 .. P15, with :count for several, or - for none";
  EXPECT_EQ(in_program("FFMA Q1"), "t:5: register 'Q1': " + legal);
  EXPECT_EQ(in_program("FFMA R"), "t:5: register 'R': " + legal);
  EXPECT_EQ(in_program("FFMA R1,"), "t:5: register 'end of line': " + legal);
  EXPECT_EQ(in_program("FFMA R4096"), "t:5: register number '4096': expected an integer from 0 to 4095");
  EXPECT_EQ(in_program("FFMA P16"), "t:5: register number '16': expected an integer from 0 to 15");
  EXPECT_EQ(in_program("FFMA R1.2"), "t:5: after the register's number '.2': expected the end of the line");
  EXPECT_EQ(in_program("FFMA R0:256"), "t:5: register count '256': expected an integer from 0 to 255");
  EXPECT_EQ(in_program("FFMA R0, R1, R2, R3, R4, R5"),
            "t:5: operand 'R5': an instruction has one destination and at most 4 sources");
  EXPECT_EQ(in_program("FFMA R0 R1"), "t:5: after the instruction 'R1': expected the end of the line");
  EXPECT_EQ(in_program("FFMA R4095:2"),
            "t:5: launch 'l', program 'p', instruction 0 (FFMA), registers 'R4095:2': R0 to R4095");
  EXPECT_EQ(in_program("FSETP P15:2"),
            "t:5: launch 'l', program 'p', instruction 0 (FSETP), predicates 'P15:2': P0 to P15");
}

TEST(TraceReaderErrors, Immediates) {
  EXPECT_EQ(in_program("BAR.SYNC 1, 2"), "t:5: immediate '2': an instruction has at most one");
  EXPECT_EQ(in_program("BAR.SYNC 70000"), "t:5: immediate '70000': expected an integer from 0 to 65535");
  EXPECT_EQ(in_program("NOP\nBAR.SYNC 16"), "t:6: barrier '16': 0 to 15, and /N for N warps of the CTA");
  EXPECT_EQ(in_program("BAR.SYNC 1/33"), "t:5: warps '33': expected an integer from 1 to 32");
  EXPECT_EQ(in_program("BAR.SYNC 1/2"),
            "t:5: launch 'l', program 'p', instruction 0 (BAR.SYNC), warps of a barrier '2': the CTA has 1");
  EXPECT_EQ(
      in_program("SYNCS.ARRIVE 0"),
      "t:5: launch 'l', program 'p', instruction 0 (SYNCS.ARRIVE), ring of mbarriers '0': the launch has "
      "0, from 0");
  EXPECT_EQ(in_program("HGMMA.64x64x16.F32 2"),
            "t:5: launch 'l', program 'p', instruction 0 (HGMMA.64x64x16.F32), end of a group '2': 0 to 1");
  EXPECT_EQ(in_program("DEPBAR.LE 7"),
            "t:5: launch 'l', program 'p', instruction 0 (DEPBAR.LE), pending groups '7': 0 to 6");
  EXPECT_EQ(in_program("FFMA 3"),
            "t:5: launch 'l', program 'p', instruction 0 (FFMA), immediate '3': only barriers, "
            "branches, waits, HGMMA, SYNCS, UTMA, LDC and ULDC have one");
  EXPECT_EQ(in_program("LDC 64, R12"),
            "t:5: launch 'l', program 'p', instruction 0 (LDC), line of constants '64': 0 to 63");
}

TEST(TraceReaderErrors, Loops) {
  const std::string legal = "expected loop n=slot0 {, or n=slot0+i0*2 again { with terms of outer loops";
  EXPECT_EQ(in_program("loop {"), "t:5: loop '{': " + legal);
  EXPECT_EQ(in_program("loop n=3 {"), "t:5: loop trips '3': " + legal);
  EXPECT_EQ(in_program("loop n=slot70000 {"), "t:5: trip slot '70000': expected an integer from 0 to 65535");
  EXPECT_EQ(in_program("loop n=slot0 twice {"), "t:5: loop trips 'twice': " + legal);
  EXPECT_EQ(in_program("loop n=slot0 again again {"), "t:5: loop trips 'again': " + legal);
  EXPECT_EQ(in_program("loop n=slot0*i0 {"), "t:5: loop trips '*i0': " + legal);
  EXPECT_EQ(in_program("loop n=slot0+i0 {"),
            "t:5: loop trips 'i0': expected i0 or i1, once each, of a loop around this one");
  EXPECT_EQ(in_program("loop n=slot0 {\nloop n=slot0+i0*0 {"),
            "t:6: factor '0': expected an integer from 1 to 2147483647");
  EXPECT_EQ(in_program("loop n=slot0 {\n}"), "t:6: loop '{ }': needs instructions, the last of them BRA");
  EXPECT_EQ(in_program("loop n=slot0 {\nNOP\n}"),
            "t:6: launch 'l', program 'p', instruction 0 (NOP), end of loop 'NOP': a loop ends with BRA");
  const std::string open = "loop n=slot0 {\n";
  EXPECT_EQ(in_program(open + open + open + open), "t:8: loop depth '4': loops nest at most 3 deep");
  // One brace too many closes the program, one too few leaves the launch open.
  EXPECT_EQ(
      in_program("}"),
      "t:6: statement 'EXIT': expected grid, threads, registers, shared, mbarriers, class, class_x, class_y, "
      "class_z, program or }");
  EXPECT_EQ(in_program("loop n=slot0 {\nBRA"),
            "t:9: statement 'class': cannot stand in a program; is a } missing above?");
}

TEST(TraceReaderErrors, Memory) {
  EXPECT_EQ(in_program("LDS.32 R0, R1 [L bytes=4]"),
            "t:5: tensor 'L': unknown; declare it above with `tensor NAME KIND segments=N segment_bytes=N`");
  EXPECT_EQ(in_program("LDG.32 R0, R1 [K offset=4]"),
            "t:5: memory operand 'K': needs bytes= of the whole warp instruction");
  EXPECT_EQ(in_program("LDG.32 R0, R1 [K bytes=4 bytes=4]"),
            "t:5: memory operand 'bytes': each key may appear once");
  EXPECT_EQ(
      in_program("LDG.32 R0, R1 [K size=4]"),
      "t:5: memory operand 'size': expected segment=, offset=, bytes=, wavefronts=, lines= or the closing ]");
  EXPECT_EQ(in_program("LDG.32 R0, R1 [K bytes=4"),
            "t:5: memory operand 'end of line': expected segment=, offset=, bytes=, wavefronts=, lines= or "
            "the closing ]");
  EXPECT_EQ(in_program("LDG.32 R0 @0"),
            "t:5: memory operand '@0': 0 are defined up to here; @0=[...] defines the next");
  EXPECT_EQ(in_program("LDG.32 R0 @1=[K bytes=4]"),
            "t:5: memory operand '@1': operands are numbered in order, this one is @0");
  EXPECT_EQ(in_program("LDG.32 R0, R1 [K bytes=4]]"),
            "t:5: after the instruction ']': expected the end of the line");
  const std::string at = "t:5: launch 'l', program 'p', instruction 0 ";
  EXPECT_EQ(in_program("LDG.64 R0 [K bytes=12]"),
            at + "(LDG.64), bytes '12': a multiple of the 8 that a lane moves");
  EXPECT_EQ(in_program("LDG.64 R0"), at + "(LDG.64), memory operand 'none': needs one in a tensor");
  EXPECT_EQ(in_program("LDG.64 R0 [shared bytes=8]"),
            at + "(LDG.64), memory operand 'shared': needs a tensor");
  EXPECT_EQ(in_program("LDS.64 R0 [K bytes=8]"), at + "(LDS.64), memory operand 'K': needs shared memory");
  EXPECT_EQ(in_program("FFMA R0 [K bytes=8]"), at + "(FFMA), memory operand '0': this instruction has none");
  EXPECT_EQ(in_program("LDS.64 R0 [shared bytes=8]"),
            at + "(LDS.64), wavefronts '0': 1 to 128, or no bytes for a predicated-off access");
  EXPECT_EQ(in_program("LDL R0 [K bytes=8]"), at + "(LDL), tensor 'K': spills need a tensor of kind local");
  EXPECT_EQ(in_program("LDG.64 R0 [K offset=i0 bytes=8]"),
            at + "(LDG.64), address term 'i0': the instruction stands in 0 loops, counted from i0");
}

TEST(TraceReaderErrors, Addresses) {
  const auto offset = [](const std::string& index) {
    return in_program("LDG.32 R0 [K offset=" + index + " bytes=4]");
  };
  const std::string legal =
      "expected a sum of a number, x, y, z (as x/4*8 for 8*(x/4)), warp*n, i0*n .. i2*n, sym0*n or tab0*n";
  EXPECT_EQ(offset("w*3"), "t:5: address term 'w': " + legal);
  EXPECT_EQ(offset("i3"), "t:5: address term 'i3': " + legal);
  EXPECT_EQ(offset("4+"), "t:5: address term 'bytes': " + legal);
  EXPECT_EQ(offset("sym"), "t:5: address term 'sym': " + legal);
  EXPECT_EQ(offset("symx"), "t:5: symbol 'x': expected an integer from 0 to 32767");
  EXPECT_EQ(offset("warp+warp"),
            "t:5: address term 'warp': each term may appear once; add its factors together");
  EXPECT_EQ(offset("x/0"), "t:5: divisor '0': expected an integer from 1 to 2147483647");
  EXPECT_EQ(offset("x*a"), "t:5: factor 'a': expected an integer from 0 to 9223372036854775807");
  EXPECT_EQ(offset("9223372036854775808"),
            "t:5: constant '9223372036854775808': expected an integer from 0 to 9223372036854775807");
  EXPECT_EQ(offset("sym1"), "t:3: launch 'l', program 'p', symbol '1': class 0 has 1 symbols, from 0");
}

TEST(TraceReaderErrors, Control) {
  EXPECT_EQ(in_program("NOP {stall=0}"), "t:5: stall '0': expected an integer from 1 to 15");
  EXPECT_EQ(in_program("NOP {stall=16}"), "t:5: stall '16': expected an integer from 1 to 15");
  EXPECT_EQ(in_program("NOP {wr=6}"), "t:5: wr '6': expected an integer from 0 to 5");
  EXPECT_EQ(in_program("NOP {wait=1,}"), "t:5: wait '}': expected an integer from 0 to 5");
  EXPECT_EQ(in_program("NOP {yield}"),
            "t:5: control bits 'yield': expected stall=1..15, wr=0..5, rd=0..5, wait=0,3 or the closing }");
  EXPECT_EQ(in_program("NOP {stall 3}"), "t:5: stall '3': expected '=' here");
}

}  // namespace
}  // namespace warpscope::trace
