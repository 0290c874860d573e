// Which registers carry values across the borders of basic blocks.
#pragma once

#include <bitset>
#include <vector>

#include "kernels/compiler/virtual_code.hpp"

namespace warpscope::kernels {

using RegisterSet = std::bitset<trace::kFirstPredicate>;

struct BlockLiveness {
  RegisterSet live_in;
  RegisterSet live_out;
  RegisterSet loaded_in;  ///< of live_in, those that a load from memory outside the SM writes somewhere
};

/// Blocks that may follow each block; loops may be skipped and, unless they are conditions, repeated.
std::vector<std::vector<std::size_t>> successors(const VirtualProgram& program);

/// Per block. Predicates never outlive a block and are left out.
std::vector<BlockLiveness> block_liveness(const VirtualProgram& program);

/// The most registers that hold values at once in the order in which the code stands: results until their
/// last reader, and those that hold addresses and constants.
std::size_t most_live_registers(const VirtualProgram& program);

}  // namespace warpscope::kernels
