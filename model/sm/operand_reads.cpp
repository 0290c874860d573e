#include "model/sm/operand_reads.hpp"

#include <algorithm>
#include <array>

#include "model/trace/opcode.hpp"

namespace warpscope::sm {
namespace {

bool overlap(const trace::RegisterRange& a, const trace::RegisterRange& b) {
  return a.first < b.first + b.count && b.first < a.first + a.count;
}

/// Whether operand `i` is at hand from the instruction `before`, which read it too and did not write it.
bool is_kept(const trace::Instruction& instruction, const trace::Instruction* before, std::size_t i) {
  return before != nullptr && before->sources[i] == instruction.sources[i] &&
         !overlap(before->destination, instruction.sources[i]);
}

/// Registers of each operand that are not at hand, predicates left out.
std::array<int, 4> registers_read(const trace::Instruction& instruction, const trace::Instruction* before) {
  std::array<int, 4> registers{};
  for (std::size_t i = 0; i < registers.size(); ++i) {
    const trace::RegisterRange& source = instruction.sources[i];
    registers[i] =
        is_kept(instruction, before, i) || source.first >= trace::kFirstPredicate ? 0 : source.count;
  }
  return registers;
}

bool names_registers(const trace::Instruction& instruction) {
  return std::ranges::any_of(instruction.sources, [](const auto& source) { return source.count > 0; });
}

int cycles(int registers, int banks) {
  constexpr int kMost = PortCycles::kMost / 2;  // more than any instruction of the hardware takes
  return std::min(kMost, (registers + banks - 1) / banks);
}

}  // namespace

PortCycles product_reads(const trace::Instruction& instruction, const trace::Instruction* before, int banks) {
  std::array<int, 4> registers = registers_read(instruction, before);
  if (!names_registers(instruction)) {
    const bool large = trace::info(instruction.opcode).op_class == trace::OpClass::hmma_16816;
    registers = large ? std::array{4, 2, 4, 0} : std::array{2, 1, 4, 0};
  }
  return {cycles(registers[0], banks), cycles(registers[1], banks) + cycles(registers[2], banks)};
}

PortCycles lane_reads(const trace::Instruction& instruction, const trace::Instruction* before, int banks) {
  constexpr int kMostBanks = 8;
  std::array<int, kMostBanks> of_bank{};
  for (std::size_t i = 0; i < instruction.sources.size(); ++i) {
    const trace::RegisterRange& source = instruction.sources[i];
    if (is_kept(instruction, before, i) || source.first >= trace::kFirstPredicate) {
      continue;
    }
    for (int r = 0; r < source.count; ++r) {
      ++of_bank[static_cast<std::size_t>((source.first + r) % banks)];
    }
  }
  return {*std::ranges::max_element(of_bank), 0};
}

}  // namespace warpscope::sm
