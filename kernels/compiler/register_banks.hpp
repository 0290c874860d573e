// Which of the two banks of the register file a result goes to.
#pragma once

#include "kernels/compiler/virtual_code.hpp"

namespace warpscope::kernels {

/// Renames results of single registers that do not outlive their block, so that the FMA and ALU instructions
/// which read them find their operands in different banks where they can: even and odd registers. Operands of
/// tensor products and of wide memory instructions are consecutive registers and stay where they are. For
/// code in its final order.
void spread_over_banks(VirtualProgram& program);

}  // namespace warpscope::kernels
