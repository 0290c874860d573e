// Small traces that use every unit of a GPU between them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "tests/support/trace_builder.hpp"

namespace warpscope::test {

/// A piece of a tensor: iterations, warps and CTAs each have their own.
inline trace::MemoryOperand rows(std::uint16_t tensor, std::uint32_t bytes) {
  trace::MemoryOperand operand;
  operand.tensor = tensor;
  operand.bytes = bytes;
  operand.offset.per_iteration = {32768, 0, 0};
  operand.offset.per_warp = 2048;
  operand.offset.per_block = {8192, 0, 0};
  return operand;
}

/// An instruction of each kind, most of them waiting for the one before, in two launches.
inline trace::Trace everything() {
  using enum trace::Opcode;
  Program program;
  program.begin_loop(0);
  for (const trace::Opcode opcode :
       {HMMA_16816_F32, HMMA_1688_F32, FFMA, IMAD, FMNMX, MUFU_EX2, UIADD3, SHFL_BFLY}) {
    program.op(opcode).writes(8).reads(8).op(NOP).reads(8).op(opcode, 6);
  }
  program.op(SHFL_IDX).writes(8).reads(8).reads(9).op(FFMA).writes(8).reads(8);
  program.op(STS_128).shared(512, 4).reads(8).op(HMMA_16816_F32, 2);
  for (int i = 0; i < 12; ++i) {
    program.op(STS_32).shared(128, 1).reads(8);
  }
  program.op(LDS_128).writes(12, 4).shared(512, 4).op(FFMA).writes(8).reads(12);
  program.op(STL).memory(rows(2, 128)).reads(8);
  program.op(LDL).memory(rows(2, 128)).writes(9).op(FFMA).writes(8).reads(9);
  for (int i = 0; i < 8; ++i) {
    program.op(LDGSTS_128).memory(rows(0, 512));
  }
  program.op(LDGDEPBAR).op(DEPBAR_LE).op(BAR_SYNC);
  trace::MemoryOperand scattered = rows(0, 512);
  scattered.lines = 32;
  program.op(LDG_128).memory(scattered).writes(16, 4).op(FFMA).writes(8).reads(16);
  program.op(ATOM_32).memory(rows(1, 128)).writes(10).op(FFMA).writes(8).reads(10);
  for (int i = 0; i < 8; ++i) {
    program.op(STG_128).memory(rows(1, 512)).reads(8);
    program.op(RED_ADD_F32).memory(rows(1, 128)).reads(8);
  }
  for (int i = 0; i < 8; ++i) {
    program.op(RED_ADD_F32).memory(rows(1, 512)).reads(8);
  }
  trace::MemoryOperand in_hbm = rows(1, 512);
  in_hbm.offset.offset = 1 << 19;  // where nobody stores
  program.op(RED_ADD_F32).memory(in_hbm).reads(8);
  program.end_loop().exit();
  trace::Launch launch = one_program(program.build(), 4, 40, {4});
  launch.registers_per_thread = 100;
  launch.shared_bytes_per_cta = 20000;
  return {{tensor("in", 1 << 20), tensor("out", 1 << 20, 1, trace::TensorKind::output),
           tensor("spill", 1 << 16, 1, trace::TensorKind::local)},
          {launch, launch}};
}

/// Code beyond the first or both levels of the instruction cache.
inline trace::Trace long_code() {
  using enum trace::Opcode;
  std::vector<trace::Launch> launches;
  for (const int instructions : {1300, 2600}) {
    launches.push_back(one_program(
        Program().begin_loop(0).op(FADD, instructions).end_loop().exit().build_controlled(), 4, 4, {3}));
  }
  return {{}, launches};
}

/// Warps whose programs lie in different lines, which are asked for at the same time.
inline trace::Trace code_of_each_warp() {
  std::vector<trace::WarpProgram> programs(8, Program().op(trace::Opcode::NOP, 7).exit().build());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    programs[i].code[0].immediate = static_cast<std::uint16_t>(i);  // equal ones would be one text
  }
  return {{}, {one_warp_each(std::move(programs))}};
}

/// Reads what other CTAs read, too, and writes; `pause` instructions lie between two accesses. Neither what
/// is read nor what is written fits in the L2.
inline trace::Trace stream(int pause, std::int64_t shared_bytes) {
  using enum trace::Opcode;
  trace::MemoryOperand own = rows(1, 512);
  own.segment.per_block = {1, 0, 0};
  own.offset.per_iteration = {0, 2048, 0};
  own.offset.per_warp = 512;
  own.offset.per_block = {};
  trace::MemoryOperand common = own;
  common.tensor = 0;
  common.segment = {};
  Program program;
  program.begin_loop(0).begin_loop(1);
  program.op(FFMA, pause).op(LDG_128).memory(common).sets(0).op(FFMA).waits_for(0);
  program.op(LDG_128).memory(own).sets(1).op(FFMA).waits_for(1).op(STG_128).memory(own);
  program.end_loop().end_loop().exit();
  const auto trips = static_cast<std::uint32_t>(shared_bytes / 2048);
  return {{tensor("common", shared_bytes), tensor("own", shared_bytes, 16)},
          {one_program(program.build_controlled(), 4, 16, {3, trips})}};
}

}  // namespace warpscope::test
