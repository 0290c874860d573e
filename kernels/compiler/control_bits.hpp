// The control bits a compiler writes beside the instructions of a scheduled program.
#pragma once

#include "kernels/compiler/compiler_target.hpp"
#include "kernels/compiler/virtual_code.hpp"

namespace warpscope::kernels {

/// Gives every instruction of the scheduled blocks its stall count and scoreboards, across blocks and loops.
/// Stall counts follow a static model of the pipes and of fixed latencies; instructions of unknown latency
/// set one of six scoreboards (number 0 is left to cp.async where there is any, the last to global loads that
/// are waited for in another block), a free one if there is one, else the latest of the same kind. Where a
/// stall would exceed 15 cycles, NOPs are inserted. Every register dependence is covered: no other scoreboard
/// is needed.
void assign_control_bits(VirtualProgram& program, const CompilerTarget& target);

}  // namespace warpscope::kernels
