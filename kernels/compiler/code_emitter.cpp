#include "kernels/compiler/code_emitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "kernels/compiler/opcode_kinds.hpp"
#include "kernels/compiler/operation_names.hpp"
#include "kernels/unsupported.hpp"
#include "model/trace/trace_limits.hpp"

namespace warpscope::kernels {
namespace {

using trace::Instruction;
using trace::Opcode;
using trace::RegisterRange;

constexpr int kWordOfWarpBytes = 128;
// Registers that address arithmetic uses in turn: 11 pairs, the median of the backward loops in
// pytorch_backward_loads.csv (8 to 19).
constexpr int kAddressPool = 22;
constexpr int kFirstAddress = 4;  // after the bases of shared and global memory
constexpr int kFirstFragment = kFirstValueRegister;
static_assert(kFirstAddress + kAddressPool <= kFirstFragment);
static_assert(kAddressPool % 2 == 0);  // two words of an address are neighbours
constexpr int kRegisters = trace::kFirstPredicate;

RegisterRange address_register(int number) {
  return {static_cast<std::uint16_t>(kFirstAddress + number % kAddressPool), 1};
}

Instruction make(Opcode opcode, RegisterRange destination) {
  Instruction result;
  result.opcode = opcode;
  result.destination = destination;
  return result;
}

/// Kernels whose text grows with the problem come to an end of the numbers.
[[noreturn]] void refuse(std::string_view what) {
  throw UnsupportedProblem(fmt::format(
      "the text of the kernel for this problem is too long: it has more {} than the {} that can be "
      "numbered",
      what, kRegisters));
}

}  // namespace

CodeEmitter::CodeEmitter(const CompilerTarget& target, std::uint16_t local_tensor, const BuildFigures& build,
                         int warps)
    : target_(target),
      local_tensor_(local_tensor),
      warps_(warps),
      knows_frame_(build.spilled_words > 0),
      frame_words_(build.frame_words()),
      next_register_(kFirstFragment),
      next_temporary_(kRegisters),
      reduction_words_(std::min(kAddressPool, 2 * build.reduction_addresses)) {}

RegisterRange CodeEmitter::allocate(int count) {
  const RegisterRange result{static_cast<std::uint16_t>(next_register_), static_cast<std::uint8_t>(count)};
  next_register_ += count;
  if (next_register_ > next_temporary_) {
    refuse("tiles in registers");
  }
  return result;
}

RegisterRange CodeEmitter::temporary(int count) {
  next_temporary_ -= count;
  if (next_register_ > next_temporary_) {
    refuse("temporary registers of a basic block");
  }
  return {static_cast<std::uint16_t>(next_temporary_), static_cast<std::uint8_t>(count)};
}

RegisterRange CodeEmitter::temporary_predicate() {
  return {static_cast<std::uint16_t>(trace::kFirstPredicate + next_predicate_++), 1};
}

void CodeEmitter::append(Instruction instruction) {
  const trace::OpcodeInfo& fixed = trace::info(instruction.opcode);
  note_result(instruction);
  instruction.operation = operation_;
  current_.code.push_back(instruction);
  if (fixed.pipe != trace::Pipe::tensor && !is_ldsm(instruction.opcode) && last_result_.count > 0 &&
      ++since_move_ == target_.instructions_per_move) {
    since_move_ = 0;
    Instruction move = make(Opcode::MOV, temporary(1));
    move.sources[0] = last_result_;
    move.operation = program_.operation_number(kMoves);
    current_.code.push_back(move);
  }
}

void CodeEmitter::emit(Opcode opcode, RegisterRange destination,
                       std::initializer_list<RegisterRange> sources) {
  Instruction instruction = make(opcode, destination);
  std::ranges::copy(sources, instruction.sources.begin());
  append(instruction);
}

void CodeEmitter::emit_memory(Opcode opcode, RegisterRange destination,
                              std::initializer_list<RegisterRange> sources,
                              const trace::MemoryOperand& operand) {
  Instruction instruction = make(opcode, destination);
  std::ranges::copy(sources, instruction.sources.begin());
  instruction.memory = add_operand(operand);
  append(instruction);
}

std::uint32_t CodeEmitter::add_operand(const trace::MemoryOperand& operand) {
  // Shared-memory operands repeat; only what differs is stored again.
  std::vector<trace::MemoryOperand>& operands = program_.memory_operands;
  if (operand.tensor == trace::kSharedMemory) {
    const auto found = std::ranges::find(operands, operand);
    if (found != operands.end()) {
      return static_cast<std::uint32_t>(found - operands.begin());
    }
  }
  operands.push_back(operand);
  return static_cast<std::uint32_t>(operands.size() - 1);
}

void CodeEmitter::emit_immediate(Opcode opcode, int immediate) {
  Instruction instruction = make(opcode, {});
  instruction.immediate = static_cast<std::uint16_t>(immediate);
  append(instruction);
}

void CodeEmitter::emit_asynchronous(Opcode opcode, int immediate, RegisterRange registers,
                                    const trace::MemoryOperand* operand) {
  Instruction instruction = make(opcode, registers);
  instruction.sources[0] = registers;
  instruction.immediate = static_cast<std::uint16_t>(immediate);
  if (operand != nullptr) {
    instruction.memory = add_operand(*operand);
  }
  append(instruction);
}

RegisterRange CodeEmitter::next_address() {
  return address_register(address_turn_++);
}

RegisterRange CodeEmitter::address_instruction(Opcode opcode) {
  const int turn = address_turn_++;
  const RegisterRange result = address_register(turn);
  emit(opcode, result, {address_register(turn + kAddressPool - kAddressChains), shared_base()});
  return result;
}

RegisterRange CodeEmitter::address_words() {
  address_turn_ += address_turn_ % 2;
  const int turn = address_turn_ % reduction_words_;
  address_turn_ += 2;
  const RegisterRange low = address_register(turn);
  const RegisterRange high = address_register(turn + 1);
  emit(Opcode::LEA, low, {shared_base()});
  emit(Opcode::LEA, high, {low});
  return {low.first, 2};
}

trace::MemoryOperand CodeEmitter::local_slot(Opcode opcode) {
  trace::MemoryOperand slot;
  slot.tensor = local_tensor_;
  // The L2 gives up lines of 128 bytes, each a word of a warp, when they have not been written for long;
  // its blocks here are larger. So the same words of all warps are neighbours: they are written alike.
  const int words = opcode == Opcode::LDL_64 || opcode == Opcode::STL_64 ? 2 : 1;
  const auto first = static_cast<int>(local_words_ % frame_words_);
  slot.bytes = static_cast<std::uint32_t>(kWordOfWarpBytes * words);
  slot.offset.offset = kWordOfWarpBytes * warps_ * std::max(0, std::min(first, frame_words_ - words));
  slot.offset.per_warp = kWordOfWarpBytes * words;
  // Reloads hit in the L1: where stores go decides what the L2 holds of a frame whose size is known.
  if (!knows_frame_ || trace::info(opcode).op_class == trace::OpClass::local_store) {
    local_words_ += words;
  }
  return slot;
}

void CodeEmitter::spill(RegisterRange value) {
  if (take_pending(Opcode::STL)) {
    emit_memory(Opcode::STL, {}, {shared_base(), value}, local_slot(Opcode::STL));
  }
}

void CodeEmitter::reload(RegisterRange value) {
  if (take_pending(Opcode::LDL)) {
    emit_memory(Opcode::LDL, value, {shared_base()}, local_slot(Opcode::LDL));
  }
}

void CodeEmitter::note_result(const Instruction& instruction) {
  const trace::Pipe pipe = trace::info(instruction.opcode).pipe;
  if ((pipe == trace::Pipe::fma || pipe == trace::Pipe::alu) && instruction.destination.count == 1 &&
      instruction.destination.first < trace::kFirstPredicate) {
    last_result_ = instruction.destination;
  }
}

void CodeEmitter::end_counted_block(bool branch, int jumps_over) {
  current_.branch_operation = program_.operation_number(kCounted);
  current_.jumps_over = jumps_over;
  end_block(branch);
}

void CodeEmitter::end_block(bool branch) {
  if (!pending_.empty()) {
    interleave_pending();
  }
  current_.ends_with_branch = branch;
  program_.blocks.push_back(std::exchange(current_, {}));
  next_temporary_ = kRegisters;
  next_predicate_ = 0;
  last_result_ = {};
}

void CodeEmitter::end_block_on(RegisterRange compared) {
  const RegisterRange condition = temporary_predicate();
  emit(Opcode::ISETP, condition, {compared});
  current_.condition = condition;
  end_block(true);
}

std::size_t CodeEmitter::add_loop(const VirtualLoop& loop) {
  program_.loops.push_back(loop);
  return program_.loops.size() - 1;
}

VirtualProgram CodeEmitter::take() {
  end_block(false);
  return std::exchange(program_, {});
}

}  // namespace warpscope::kernels
