// Operands that come out of the register file.
#pragma once

#include "model/trace/instruction.hpp"

namespace warpscope::sm {

/// Registers that `instruction` reads there, predicates not counted. An operand that the instruction `before`
/// it has in the same place is still at hand (compilers mark it with .reuse); null: there is none before.
int registers_read(const trace::Instruction& instruction, const trace::Instruction* before);

}  // namespace warpscope::sm
