#include "tests/validation/program_builder.hpp"

#include <algorithm>

namespace warpscope::validation {

using trace::Instruction;
using trace::Opcode;
using trace::RegisterRange;

namespace {

/// Where the compiler puts the count and the comparison of a loop: early, and apart.
constexpr std::ptrdiff_t kCountAt = 1;
constexpr std::ptrdiff_t kCompareAt = 5;

/// It waits for a last HMMA before it jumps: NOP:8 BRA:15 behind m16n8k16, BRA:15 behind m16n8k8
/// (hmma_mix.csv).
constexpr int kNopStall = 8;
constexpr int kBranchStall = 15;

void stall(Instruction& instruction, int cycles) {
  instruction.has_control = true;
  instruction.control.stall_cycles = static_cast<std::uint8_t>(cycles);
}

}  // namespace

Instruction& ProgramBuilder::append(Opcode opcode, RegisterRange destination,
                                    std::initializer_list<RegisterRange> sources) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.destination = destination;
  std::ranges::copy(sources, instruction.sources.begin());
  program_.code.push_back(instruction);
  return program_.code.back();
}

void ProgramBuilder::add(Opcode opcode, RegisterRange destination,
                         std::initializer_list<RegisterRange> sources) {
  append(opcode, destination, sources);
}

void ProgramBuilder::add_immediate(Opcode opcode, int immediate) {
  append(opcode, {}, {}).immediate = static_cast<std::uint16_t>(immediate);
}

void ProgramBuilder::add_shared(Opcode opcode, RegisterRange destination,
                                std::initializer_list<RegisterRange> sources, std::uint32_t bytes) {
  append(opcode, destination, sources).memory = static_cast<std::uint32_t>(program_.memory_operands.size());
  trace::MemoryOperand operand;
  operand.offset.per_warp = bytes;
  operand.bytes = bytes;
  operand.wavefronts = static_cast<std::uint16_t>((bytes + 127) / 128);
  program_.memory_operands.push_back(operand);
}

void ProgramBuilder::add_global(Opcode opcode, RegisterRange destination,
                                std::initializer_list<RegisterRange> sources, std::uint32_t bytes,
                                const trace::AffineIndex& offset, std::uint16_t tensor) {
  append(opcode, destination, sources).memory = static_cast<std::uint32_t>(program_.memory_operands.size());
  trace::MemoryOperand operand;
  operand.tensor = tensor;
  operand.offset = offset;
  operand.bytes = bytes;
  program_.memory_operands.push_back(operand);
}

void ProgramBuilder::begin_loop(int trip_slot) {
  open_.push_back(program_.loops.size());
  trace::Loop loop;
  loop.begin = static_cast<std::uint32_t>(program_.code.size());
  loop.trip_slot = static_cast<std::uint16_t>(trip_slot);
  program_.loops.push_back(loop);
}

void ProgramBuilder::count_trips(std::size_t loop) {
  const bool innermost = loop + 1 == program_.loops.size();
  const auto begin = static_cast<std::ptrdiff_t>(program_.loops[loop].begin);
  const auto insert = [&](std::ptrdiff_t place, Opcode opcode, RegisterRange destination) {
    Instruction instruction;
    instruction.opcode = opcode;
    instruction.destination = destination;
    instruction.sources[0] = reg(0);
    const auto end = static_cast<std::ptrdiff_t>(program_.code.size());
    program_.code.insert(program_.code.begin() + std::min(begin + place, end), instruction);
  };
  insert(innermost ? kCountAt : 0, Opcode::IADD3, reg(0));
  insert(innermost ? kCompareAt : 1, Opcode::ISETP, predicate(0));
  for (std::size_t inner = loop + 1; inner < program_.loops.size(); ++inner) {
    program_.loops[inner].begin += 2;
    program_.loops[inner].end += 2;
  }
}

void ProgramBuilder::end_loop() {
  count_trips(open_.back());
  const Opcode last = program_.code.back().opcode;
  if (last == Opcode::HMMA_16816_F32) {
    stall(append(Opcode::NOP, {}, {}), kNopStall);
  }
  Instruction& branch = append(Opcode::BRA, {}, {predicate(0)});
  if (trace::info(last).pipe == trace::Pipe::tensor) {
    stall(branch, kBranchStall);
  }
  program_.loops[open_.back()].end = static_cast<std::uint32_t>(program_.code.size());
  open_.pop_back();
}

trace::WarpProgram ProgramBuilder::finish() {
  add(Opcode::EXIT);
  return std::move(program_);
}

trace::Launch make_launch(std::string name, std::uint32_t ctas, std::uint32_t warps,
                          const trace::WarpProgram& program, std::uint32_t trips) {
  trace::Launch launch;
  launch.name = std::move(name);
  launch.grid = {ctas, 1, 1};
  launch.threads_per_cta = warps * 32;
  launch.registers_per_thread = 64;
  launch.shared_bytes_per_cta = warps * 512;
  launch.programs = {program};
  trace::CtaClass cta_class;
  cta_class.program_of_warp.assign(warps, 0);
  cta_class.trip_counts = {trips};
  launch.classes = {cta_class};
  return launch;
}

}  // namespace warpscope::validation
