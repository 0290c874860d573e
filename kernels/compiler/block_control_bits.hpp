// The control bits of one basic block.
#pragma once

#include <vector>

#include "kernels/compiler/compiler_target.hpp"
#include "kernels/compiler/liveness.hpp"
#include "kernels/compiler/open_dependences.hpp"
#include "kernels/compiler/scoreboards.hpp"

namespace warpscope::kernels {

/// `code` with waits, scoreboards and stalls, and with NOPs where a stall would be too long. `open` is what
/// is open at its start, and becomes what is at its end; `written_elsewhere` holds registers that other
/// blocks, or this one in its next run, write; `scoreboards` are those of a block where none is taken yet.
std::vector<trace::Instruction> with_control_bits(const std::vector<trace::Instruction>& code,
                                                  OpenDependences& open, const Scoreboards& scoreboards,
                                                  const RegisterSet& written_elsewhere,
                                                  const CompilerTarget& target);

}  // namespace warpscope::kernels
