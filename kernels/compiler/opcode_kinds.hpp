// Kinds of instructions that a compiler schedules by rules of their own.
#pragma once

#include "model/trace/instruction.hpp"
#include "model/trace/opcode.hpp"

namespace warpscope::kernels {

inline bool is_ldsm(trace::Opcode opcode) {
  return opcode >= trace::Opcode::LDSM_X4 && opcode <= trace::Opcode::LDSM_T_X2;
}

inline bool is_hmma(trace::Opcode opcode) {
  const trace::OpClass op_class = trace::info(opcode).op_class;
  return op_class == trace::OpClass::hmma_16816 || op_class == trace::OpClass::hmma_1688;
}

/// Products of warpgroups, mbarriers and copies of boxes.
inline bool is_asynchronous(trace::Opcode opcode) {
  return trace::info(opcode).op_class >= trace::OpClass::wgmma || opcode == trace::Opcode::WARPGROUP_ARRIVE;
}

/// A value comes back from local memory. Other loads from there stand for what is known by its number only.
inline bool is_reload(const trace::Instruction& instruction) {
  return trace::info(instruction.opcode).op_class == trace::OpClass::local_load &&
         instruction.destination.count > 0;
}

/// A shared load that is predicated off and whose result nobody has, as compilers put in front of copies.
inline bool is_dead_load(const trace::Instruction& instruction) {
  return trace::info(instruction.opcode).op_class == trace::OpClass::shared_load &&
         instruction.destination.count == 0;
}

/// Memory instructions and barriers, which stay in source order. Shuffles touch no memory, and spills none
/// that others read.
inline bool keeps_memory_order(trace::Opcode opcode) {
  using trace::OpClass;
  const trace::OpcodeInfo& info = trace::info(opcode);
  return info.op_class == OpClass::barrier || info.op_class == OpClass::async_wait ||
         is_asynchronous(opcode) ||
         (info.pipe == trace::Pipe::lsu && info.op_class != OpClass::shuffle &&
          info.op_class != OpClass::local_store);
}

}  // namespace warpscope::kernels
