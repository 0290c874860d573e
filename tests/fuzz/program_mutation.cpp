#include "tests/fuzz/program_mutation.hpp"

#include <algorithm>

#include "tests/fuzz/odd_numbers.hpp"

namespace warpscope::fuzz {
namespace {

using namespace trace;

void change_index(AffineIndex& index, Random& random) {
  switch (random.between(0, 5)) {
    case 0:
      index.per_block[odd<std::size_t>(random, 0, 2)] = odd_number(random);
      break;
    case 1:
      index.block_divisor[odd<std::size_t>(random, 0, 2)] = odd<std::int32_t>(random, 1, 0x7fffffff);
      break;
    case 2:
      index.per_warp = odd_number(random);
      break;
    case 3:
      index.per_iteration[odd<std::size_t>(random, 0, 2)] = odd_number(random);
      break;
    case 4:
      index.symbol = odd<std::int16_t>(random, -1, 3);
      index.per_symbol = index.symbol < 0 ? 0 : odd_number(random);
      break;
    default:
      index.offset = odd_number(random);
  }
}

void change_memory(MemoryOperand& operand, std::size_t tensors, Random& random) {
  switch (random.between(0, 4)) {
    case 0:
      operand.bytes = odd<std::uint32_t>(random, 0, 64) * 16;
      break;
    case 1:
      operand.wavefronts = odd<std::uint16_t>(random, 0, 256);
      break;
    case 2:
      operand.lines = odd<std::uint16_t>(random, 0, 32);
      break;
    case 3:
      change_index(random.one_in(3) ? operand.segment : operand.offset, random);
      break;
    default:
      operand.tensor = static_cast<std::uint16_t>(random.between(0, static_cast<std::int64_t>(tensors) - 1));
  }
}

/// Any opcode with a memory operand that suits it.
void change_opcode(Instruction& instruction, WarpProgram& program, std::size_t tensors, Random& random) {
  instruction.opcode = static_cast<Opcode>(random.between(0, std::ssize(all_opcodes()) - 1));
  instruction.immediate = 0;
  instruction.memory = kNoMemory;
  const OpClass op_class = info(instruction.opcode).op_class;
  const bool shared = is_shared_memory(op_class);
  if (!shared && !is_global_memory(op_class)) {
    return;
  }
  MemoryOperand operand;
  operand.bytes = 512;
  operand.wavefronts = shared ? odd<std::uint16_t>(random, 1, 32) : std::uint16_t{0};
  if (!shared) {
    operand.tensor = static_cast<std::uint16_t>(random.between(0, static_cast<std::int64_t>(tensors) - 1));
  }
  instruction.memory = static_cast<std::uint32_t>(program.memory_operands.size());
  program.memory_operands.push_back(operand);
}

RegisterRange some_range(Random& random) {
  const bool predicate = random.one_in(4);
  return {static_cast<std::uint16_t>(predicate ? kFirstPredicate + random.between(0, 12)
                                               : odd_number(random) & 0xff),
          static_cast<std::uint8_t>(random.between(0, 4))};
}

void change_instruction(Instruction& instruction, WarpProgram& program, std::size_t tensors, Random& random) {
  switch (random.between(0, 5)) {
    case 0:
      change_opcode(instruction, program, tensors, random);
      break;
    case 1:
      instruction.destination = some_range(random);
      break;
    case 2:
      instruction.sources[odd<std::size_t>(random, 0, 3)] = some_range(random);
      break;
    case 3:
      instruction.has_control = !random.one_in(4);
      instruction.control = {odd<std::uint8_t>(random, 1, 15), odd<std::uint8_t>(random, 0, kNoScoreboard),
                             odd<std::uint8_t>(random, 0, kNoScoreboard), odd<std::uint8_t>(random, 0, 63)};
      break;
    case 4:
      instruction.immediate = odd<std::uint16_t>(random, 0, 63);
      break;
    default:
      if (instruction.memory != kNoMemory) {
        change_memory(program.memory_operands[instruction.memory], tensors, random);
      }
  }
}

void insert(WarpProgram& program, std::uint32_t at, const Instruction& instruction) {
  program.code.insert(program.code.begin() + at, instruction);
  for (Loop& loop : program.loops) {
    loop.begin += loop.begin > at ? 1 : 0;
    loop.end += loop.end > at ? 1 : 0;
  }
}

void erase(WarpProgram& program, std::uint32_t at) {
  program.code.erase(program.code.begin() + at);
  for (Loop& loop : program.loops) {
    loop.begin -= loop.begin > at ? 1 : 0;
    loop.end -= loop.end > at ? 1 : 0;
  }
}

void wrap_in_loop(WarpProgram& program, std::uint32_t begin, Random& random) {
  const auto last = static_cast<std::int64_t>(program.code.size()) - 1;
  const auto end = static_cast<std::uint32_t>(random.between(begin, last));
  insert(program, end, bare(Opcode::BRA));
  Loop loop;
  loop.begin = begin;
  loop.end = end + 1;
  loop.trip_slot = odd<std::uint16_t>(random, 0, 3);
  program.loops.push_back(loop);
  std::ranges::sort(program.loops, [](const Loop& a, const Loop& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
}

}  // namespace

void change_program(WarpProgram& program, std::size_t tensors, Random& random) {
  const auto at = static_cast<std::uint32_t>(random.between(0, std::ssize(program.code) - 1));
  switch (random.between(0, 7)) {
    case 0: {
      Instruction instruction;
      change_opcode(instruction, program, tensors, random);
      insert(program, at, instruction);
      break;
    }
    case 1:
      insert(program, at, Instruction(pick(program.code, random)));
      break;
    case 2:
      erase(program, at);
      break;
    case 3:
      wrap_in_loop(program, at, random);
      break;
    case 4:
      if (!program.loops.empty()) {
        Loop& loop = pick(program.loops, random);
        loop.trip_slot = odd<std::uint16_t>(random, 0, 3);
        loop.trips_per_iteration[odd<std::size_t>(random, 0, 1)] = odd<std::int32_t>(random, -9, 9);
      }
      break;
    default:
      change_instruction(program.code[at], program, tensors, random);
  }
}

}  // namespace warpscope::fuzz
