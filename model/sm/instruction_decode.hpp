// What one instruction asks of the machine: pipe, intervals, latencies and registers.
#pragma once

#include "model/sm/decoded_launch.hpp"

namespace warpscope::sm {

/// Sets pipe, intervals and latency of an instruction whose class and memory operand are known.
void set_timing(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch);

/// Sets the cycles in which it reads registers, once its timing is known. `before` is the instruction in
/// front of it, `product` the last tensor instruction; null: there is none.
void set_reads(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch,
               const trace::Instruction& instruction, const trace::Instruction* before,
               const trace::Instruction* product);

}  // namespace warpscope::sm
