// The order a compiler gives the instructions of a basic block.
#pragma once

#include <vector>

#include "kernels/compiler/dependence_graph.hpp"

namespace warpscope::kernels {

struct ScheduledCode {
  std::vector<trace::Instruction> code;
  int cycles = 0;  ///< that the compiler plans with
};

/// List scheduling for one warp alone, one instruction per cycle: among the instructions whose operands and
/// pipe are ready, the most urgent one (plan_backwards) goes first, less CompilerTarget::source_order_cycles
/// for each instruction of the source that it passes. An HMMA is chosen CompilerTarget::hmma_early_cycles
/// before its pipe is free, so that what is less urgent does not fill the time between two of them. An LDSM
/// passes as many HMMAs of the source as its latency takes, or where the block computes the other factor goes
/// up to CompilerTarget::load_window HMMAs ahead of its first; no more than CompilerTarget::waiting_loads
/// hold registers until their last. An instruction that would exceed the register limit waits, and so does
/// one that would take a register kept for the next HMMAs (CompilerTarget::reserve_registers), does not feed
/// them and is less urgent. A reload waits for the first slice of a product whose factor the block computes.
/// The rules were found in the machine code of FlashAttention-2 and reproduce its order statistics (a step of
/// the QK product is loaded during the one before, barriers among the HMMAs, exponentials of a slice of keys
/// during the PV product of the slice before).
ScheduledCode schedule_block(const BasicBlock& block, const BlockLiveness& liveness,
                             const CompilerTarget& target);

}  // namespace warpscope::kernels
