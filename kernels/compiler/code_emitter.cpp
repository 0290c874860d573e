#include "kernels/compiler/code_emitter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
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

/// Whether a counted instruction that accesses no memory has a result.
bool has_result(Opcode opcode) {
  const trace::OpcodeInfo& fixed = trace::info(opcode);
  return fixed.pipe != trace::Pipe::control || fixed.op_class == trace::OpClass::constant_load;
}

bool makes_predicate(Opcode opcode) {
  return opcode == Opcode::ISETP || opcode == Opcode::FSETP || opcode == Opcode::PLOP3;
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
      next_temporary_(kRegisters) {}

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

RegisterRange CodeEmitter::address_instruction(Opcode opcode) {
  const int turn = address_turn_++;
  const RegisterRange result = address_register(turn);
  emit(opcode, result, {address_register(turn + kAddressPool - kAddressChains), shared_base()});
  return result;
}

RegisterRange CodeEmitter::address_words() {
  address_turn_ += address_turn_ % 2;
  const RegisterRange low = address_register(address_turn_++);
  const RegisterRange high = address_register(address_turn_++);
  emit(Opcode::LEA, low, {shared_base()});
  emit(Opcode::LEA, high, {low});
  return {low.first, 2};
}

std::vector<CodeEmitter::Counted> CodeEmitter::round_robin(std::span<const CountedInstruction> instructions) {
  std::vector<Counted> order;
  std::vector<int> left;
  for (const CountedInstruction& counted : instructions) {
    left.push_back(counted.count);
  }
  const int rounds = left.empty() ? 0 : *std::ranges::max_element(left);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t kind = 0; kind < left.size(); ++kind) {
      // Kind k appears in a fraction left/rounds of the rounds.
      const std::int64_t count = left[kind];
      if ((round + 1) * count / rounds > round * count / rounds) {
        const int placed = static_cast<int>(round * count / rounds);
        order.push_back({instructions[kind].opcode, placed < instructions[kind].new_lines});
      }
    }
  }
  return order;
}

void CodeEmitter::spread(std::span<const CountedInstruction> instructions) {
  // Each kind is spread over the whole block too.
  const std::vector<Counted> order = round_robin(instructions);
  pending_.insert(pending_.end(), order.begin(), order.end());
}

std::uint16_t CodeEmitter::parameter_line(const Counted& counted) {
  if (!trace::is_constant(trace::info(counted.opcode).op_class)) {
    return 0;
  }
  int& lines = parameter_lines_[counted.opcode];
  lines += counted.new_line || lines == 0 ? 1 : 0;
  return static_cast<std::uint16_t>(std::min(lines, trace::kConstantLines) - 1);
}

void CodeEmitter::chain(std::span<const CountedInstruction> instructions) {
  RegisterRange previous;
  const std::vector<Counted> links = round_robin(instructions);
  const auto makes_value = [](const Counted& counted) {
    return has_result(counted.opcode) && !makes_predicate(counted.opcode);
  };
  auto values_left = std::ranges::count_if(links, makes_value);
  for (const Counted& counted : links) {
    Instruction link = make(counted.opcode, {});
    link.operation = program_.operation_number(kCounted);
    link.immediate = parameter_line(counted);
    if (has_result(counted.opcode)) {
      link.sources[0] = previous;
      values_left -= makes_value(counted) ? 1 : 0;
      link.destination = makes_predicate(counted.opcode) ? temporary_predicate()
                         : values_left < kAddressChains  ? address_register(address_turn_++)
                                                         : temporary(1);
      previous = link.destination;
    }
    current_.code.push_back(link);
  }
}

std::vector<std::size_t> CodeEmitter::pending_positions(const std::vector<Instruction>& code) const {
  // Values are spilled to make room for the operands of a product and reloaded when most of it is done, so
  // that spills do not stand between matrix loads. Everything else is spread evenly.
  const auto is_matrix_load = [](const Instruction& instruction) { return is_ldsm(instruction.opcode); };
  const auto first = static_cast<std::size_t>(std::ranges::find_if(code, is_matrix_load) - code.begin());
  const auto last =
      code.size() -
      static_cast<std::size_t>(std::find_if(code.rbegin(), code.rend(), is_matrix_load) - code.rbegin());
  struct Stretch {
    std::size_t begin, end, count = 0, placed = 0;
  };
  Stretch stores{0, first < code.size() ? first : code.size()};
  Stretch loads{first < code.size() ? last : 0, code.size()};
  Stretch others{0, code.size()};
  const auto stretch_of = [&](Opcode opcode) -> Stretch& {
    const trace::OpClass op_class = trace::info(opcode).op_class;
    return op_class == trace::OpClass::local_store  ? stores
           : op_class == trace::OpClass::local_load ? loads
                                                    : others;
  };
  for (const Counted& counted : pending_) {
    ++stretch_of(counted.opcode).count;
  }
  std::vector<std::size_t> positions;
  for (const Counted& counted : pending_) {
    Stretch& stretch = stretch_of(counted.opcode);
    positions.push_back(stretch.begin + stretch.placed++ * (stretch.end - stretch.begin) / stretch.count);
  }
  return positions;
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

bool CodeEmitter::take_pending(Opcode opcode) {
  const auto found = std::ranges::find(pending_, opcode, &Counted::opcode);
  const bool any = found != pending_.end();
  if (any) {
    pending_.erase(found);
  }
  return any;
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

Instruction CodeEmitter::counted_instruction(const Counted& counted) {
  const Opcode opcode = counted.opcode;
  const trace::OpClass op_class = trace::info(opcode).op_class;
  Instruction extra = make(opcode, {});
  extra.operation = program_.operation_number(kCounted);
  extra.immediate = parameter_line(counted);
  // Most of what is spilled and reloaded are constants and values that are idle meanwhile: nothing waits for
  // the access itself, so it has no data register here.
  if (op_class == trace::OpClass::local_store || op_class == trace::OpClass::local_load) {
    extra.memory = add_operand(local_slot(opcode));
    extra.sources[0] = shared_base();
  } else if (op_class == trace::OpClass::shared_load) {
    extra.memory = add_operand({});  // predicated off: it reads nothing
    extra.sources[0] = shared_base();
  } else if (has_result(opcode)) {
    if (opcode != Opcode::S2R) {
      extra.sources[0] = last_result_;
    }
    extra.destination = temporary(1);
  }
  return extra;
}

void CodeEmitter::interleave_pending() {
  const std::vector<Instruction> code = std::exchange(current_.code, {});
  const std::vector<std::size_t> positions = pending_positions(code);
  std::vector<std::size_t> order(pending_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return positions[k]; });
  auto next = order.begin();
  last_result_ = {};
  for (std::size_t i = 0; i <= code.size(); ++i) {
    for (; next != order.end() && positions[*next] == i; ++next) {
      current_.code.push_back(counted_instruction(pending_[*next]));
    }
    if (i < code.size()) {
      current_.code.push_back(code[i]);
      note_result(code[i]);
    }
  }
  pending_.clear();
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
