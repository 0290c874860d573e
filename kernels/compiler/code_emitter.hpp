// Collects the instructions of a warp program on virtual registers, block by block.
#pragma once

#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/compiler/compiler_target.hpp"
#include "kernels/compiler/virtual_code.hpp"
#include "kernels/machine/build_figures.hpp"

namespace warpscope::kernels {

/// Registers: fixed ones that hold addresses and constants, then those of fragments, which nest like the
/// program's loops, and from the top downwards temporaries, which never outlive their basic block.
class CodeEmitter {
  static constexpr int kAddressChains = 2;  ///< 64-bit addresses: low and high words are a chain each

 public:
  /// Where the build's frame is not known, spills go to ever other words.
  CodeEmitter(const CompilerTarget& target, std::uint16_t local_tensor, const BuildFigures& build, int warps);

  trace::RegisterRange allocate(int count);
  int allocation_mark() const { return next_register_; }
  void release_to(int mark) { next_register_ = mark; }
  trace::RegisterRange temporary(int count);
  trace::RegisterRange temporary_predicate();
  /// Base address of shared memory; a constant of the program.
  static trace::RegisterRange shared_base() { return {0, 1}; }
  /// A number in the constant bank or a uniform register, known since the kernel's start: no register is
  /// read.
  static trace::RegisterRange constant() { return {}; }

  void emit(trace::Opcode opcode, trace::RegisterRange destination,
            std::initializer_list<trace::RegisterRange> sources);
  void emit_memory(trace::Opcode opcode, trace::RegisterRange destination,
                   std::initializer_list<trace::RegisterRange> sources, const trace::MemoryOperand& operand);
  void emit_immediate(trace::Opcode opcode, int immediate);
  /// Reads and writes `registers`; `operand` may be null.
  void emit_asynchronous(trace::Opcode opcode, int immediate, trace::RegisterRange registers,
                         const trace::MemoryOperand* operand);
  /// One integer instruction of address arithmetic; the result is one of a few registers used in turn.
  trace::RegisterRange address_instruction(trace::Opcode opcode);
  /// The two words of a reduction's address, which LEA and LEA.HI.X make in two of these registers.
  trace::RegisterRange address_words();
  /// Spreads counted instructions evenly over the current block.
  void spread(std::span<const CountedInstruction> instructions);
  /// Puts a register into local memory, or fetches it again, in place of one of the counted stores and loads
  /// that are to be spread. Nothing happens where none is left.
  void spill(trace::RegisterRange value);
  void reload(trace::RegisterRange value);
  /// Counted instructions here, each with the result of the one before as its source.
  void chain(std::span<const CountedInstruction> instructions);

  /// What the instructions from here on are part of; empty: nothing that has a name.
  void begin_operation(std::string name) { operation_ = program_.operation_number(std::move(name)); }

  /// Ends the basic block; with `branch` the block's last instruction is a branch.
  void end_block(bool branch);
  /// Ends it with a branch that hangs on a comparison of `compared`, made here.
  void end_block_on(trace::RegisterRange compared);
  /// The same, of a branch that was counted in the build, and jumps over so many instructions.
  void end_counted_block(bool branch, int jumps_over);
  bool block_is_empty() const { return current_.code.empty() && pending_.empty(); }
  std::size_t next_block() const { return program_.blocks.size(); }
  std::size_t add_loop(const VirtualLoop& loop);
  std::size_t loop_count() const { return program_.loops.size(); }
  VirtualLoop& loop(std::size_t index) { return program_.loops[index]; }
  VirtualProgram take();

 private:
  trace::RegisterRange next_address();
  void append(trace::Instruction instruction);
  void interleave_pending();
  /// Where in `code` each pending instruction goes.
  std::vector<std::size_t> pending_positions(const std::vector<trace::Instruction>& code) const;
  /// One of a number of counted instructions.
  struct Counted {
    trace::Opcode opcode;
    bool new_line;  ///< of parameters
  };
  static std::vector<Counted> round_robin(std::span<const CountedInstruction> instructions);
  /// The line of parameters that it reads: of those that are not new the latest.
  std::uint16_t parameter_line(const Counted& counted);
  trace::Instruction counted_instruction(const Counted& counted);
  trace::MemoryOperand local_slot(trace::Opcode opcode);
  /// Takes one of this kind out of those that are to be spread.
  bool take_pending(trace::Opcode opcode);
  void note_result(const trace::Instruction& instruction);
  std::uint32_t add_operand(const trace::MemoryOperand& operand);

  const CompilerTarget& target_;
  std::uint16_t local_tensor_;
  int warps_;  ///< of a CTA
  bool knows_frame_;
  int frame_words_;
  VirtualProgram program_;
  BasicBlock current_;
  std::vector<Counted> pending_;
  std::uint8_t operation_ = 0;
  trace::RegisterRange last_result_;  ///< what a move reads: the latest result of fixed latency
  int next_register_;
  int next_temporary_;
  int next_predicate_ = 0;
  int address_turn_ = 0;
  int reduction_words_;  ///< of addresses of reductions, in turns
  int since_move_ = 0;
  std::map<trace::Opcode, int> parameter_lines_;  ///< so many have been read
  std::int64_t local_words_ = 0;
};

}  // namespace warpscope::kernels
