#include "tests/validation/program_builder.hpp"

#include <algorithm>

namespace warpscope::validation {

using trace::Instruction;
using trace::Opcode;
using trace::RegisterRange;

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
  add(Opcode::IADD3, reg(0), {reg(0)});
  add(Opcode::ISETP, predicate(0), {reg(0)});
}

void ProgramBuilder::end_loop() {
  add(Opcode::BRA, {}, {predicate(0)});
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
