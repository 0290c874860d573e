// What the compiler assumes about a GPU generation when it orders instructions and writes control bits.
#pragma once

#include "kernels/kernel.hpp"
#include "model/trace/opcode.hpp"

namespace warpscope::kernels {

/// Static pipe model and heuristics of the compiler for one target, in cycles where not said otherwise. These
/// are read off machine code (stall counts, order of instructions), not timings of a GPU.
struct CompilerTarget {
  int hmma_16816_interval = 8;  ///< that stall counts keep
  int hmma_1688_interval = 4;
  int hmma_plan_spare_cycles = 2;  ///< more between two HMMA.16816 in the plan that says what is urgent
  int hmma_early_cycles =
      1;  ///< so long before its pipe is free an HMMA is chosen, if nothing is more urgent
  int fma_interval = 2;
  int imad_interval = 2;      ///< on the heavy half of the FMA pipe
  int alu_interval = 2;       ///< integer, logic, compare, pack
  int lanes_behind_hmma = 4;  ///< FMA and ALU instructions come no sooner behind an HMMA
  int xu_interval = 10;       ///< that stall counts keep
  int xu_order_interval = 8;  ///< that the order of instructions counts on
  int memory_interval = 4;
  int hmma_latency = 29;
  int fma_latency = 4;
  int imad_latency = 4;
  int alu_latency = 4;
  int other_pipe_cycles = 1;      ///< more before another pipe or memory reads a result of FMA, IMAD or ALU,
  int tensor_operand_cycles = 3;  ///< before the tensor pipe does,
  int predicate_cycles = 9;       ///< and before a predicate guards what is not for the ALU
  int uniform_latency = 5;
  int xu_latency = 18;
  int shared_load_latency = 30;
  int shuffle_latency = 24;
  int global_load_latency = 30;  ///< the compiler hoists loads no further than it does shared loads
  int reload_latency = 295;      ///< from local memory
  int waiting_loads = 11;        ///< LDSMs whose last HMMA has not issued, at most
  int load_window = 10;        ///< HMMAs that such an LDSM passes where the other factor is computed, at most
  int value_registers = 231;   ///< at most: 255 less address_registers
  int address_registers = 24;  ///< of a thread's in a kernel with products: addresses and loop constants
  int reserve_registers = 16;  ///< kept free for the oldest instruction and what the next HMMAs read,
  int next_hmmas = 32;         ///< so many of them: those of one slice or two
  int live_predicates = 6;
  /// What each instruction of the source that one passes costs its path to the block's end, in kernels
  /// without products, where loads stay together in rounds (pytorch_backward_ends.csv). Around products it is
  /// nothing (pytorch_order.csv).
  int source_order_cycles = 5;
  bool hmma_scoreboard = false;    ///< MathBuild
  int instructions_per_move = 16;  ///< one register move per so many instructions that are not HMMA or LDSM
};

/// The target for a GPU. Figures were read off code for the real GPUs of a compute capability, 8.x or 9.0
/// (whose mma.sync code differs in intervals only). Where a pipe of this one is slower or faster by some
/// cycles, so are its figures, as for a compiler that was written for it. Throws UnsupportedProblem for other
/// compute capabilities.
CompilerTarget compiler_target(const GpuLimits& limits);

/// The target for a block whose memory instructions are so many cycles apart; 0: as many as elsewhere.
CompilerTarget with_memory_interval(CompilerTarget target, int cycles);

/// Cycles that the pipe of `opcode` is taken by one instruction of a warp.
int issue_interval(const CompilerTarget& target, trace::Opcode opcode);
/// Cycles from issue to the earliest dependent issue that the compiler plans with, on the same pipe.
int planned_latency(const CompilerTarget& target, trace::Opcode opcode);
/// Cycles from the issue of `from` to the earliest issue of `to`, which reads its result in `reg`.
int planned_latency(const CompilerTarget& target, trace::Opcode from, trace::Opcode to, std::size_t reg);
/// The longest of these cycles whatever reads `reg`: what the compiler waits for where it does not know.
int longest_latency(const CompilerTarget& target, trace::Opcode from, std::size_t reg);

}  // namespace warpscope::kernels
