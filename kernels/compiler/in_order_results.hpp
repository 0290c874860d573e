// Which results need no scoreboard of their own, because they come in order.
#pragma once

#include <vector>

#include "model/trace/instruction.hpp"

namespace warpscope::kernels {

/// Per instruction of one basic block: true where a later instruction of the same class is awaited no later
/// than this one, so that waiting for the later one is enough. Results of shared memory, shuffles and the XU
/// pipe come in the order of their instructions; ptxas leaves out their scoreboards likewise (of 80 LDSM in
/// FlashAttention-2's loop at head dimension 128 on sm_90: 22, of 68 MUFU: 41).
std::vector<bool> awaited_with_later(const std::vector<trace::Instruction>& code);

}  // namespace warpscope::kernels
