// Widths and numbers of the instructions that move tiles and rows.
#pragma once

#include <cstdint>

#include "model/trace/instruction.hpp"
#include "model/trace/program.hpp"

namespace warpscope::kernels {

inline int divide_up(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}

/// The opcode for so many bytes a lane: below 8, below 16, or 16.
inline trace::Opcode by_width(int bytes, trace::Opcode narrow, trace::Opcode middle, trace::Opcode wide) {
  return bytes >= 16 ? wide : bytes >= 8 ? middle : narrow;
}

/// An access to shared memory by a warp, which takes so many passes of the data path.
inline trace::MemoryOperand shared_operand(int bytes, int wavefronts) {
  trace::MemoryOperand operand;
  operand.bytes = static_cast<std::uint32_t>(bytes);
  operand.wavefronts = static_cast<std::uint16_t>(wavefronts);
  return operand;
}

}  // namespace warpscope::kernels
