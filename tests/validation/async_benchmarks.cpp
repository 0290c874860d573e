#include "tests/validation/async_benchmarks.hpp"

#include <string>

#include "tests/validation/program_builder.hpp"

namespace warpscope::validation {
namespace {

using trace::Instruction;
using trace::Launch;
using trace::MemoryOperand;
using trace::Opcode;
using trace::WarpProgram;

constexpr std::uint32_t kPasses = 64;

void add(WarpProgram& program, Opcode opcode, int immediate, const MemoryOperand* operand = nullptr) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.immediate = static_cast<std::uint16_t>(immediate);
  instruction.has_control = true;
  if (operand != nullptr) {
    instruction.memory = static_cast<std::uint32_t>(program.memory_operands.size());
    program.memory_operands.push_back(*operand);
  }
  program.code.push_back(instruction);
}

/// `body` in a loop: the cycles of a pass are the difference of two lengths.
Microbenchmark looped(WarpProgram body, std::uint32_t ctas, std::uint32_t warps) {
  add(body, Opcode::BRA, 0);
  body.loops.push_back({0, static_cast<std::uint32_t>(body.code.size()), 0, {}});
  add(body, Opcode::EXIT, 0);
  Microbenchmark result;
  result.trace.launches = {make_launch("short", ctas, warps, body, kPasses),
                           make_launch("long", ctas, warps, body, 3 * kPasses)};
  result.evaluate = [](const std::vector<std::int64_t>& cycles) {
    return static_cast<double>(cycles.at(1) - cycles.at(0)) / (2.0 * kPasses);
  };
  return result;
}

}  // namespace

Microbenchmark wgmma(const MeasuredRow& row) {
  const std::string name = "HGMMA.64x" + row.name + "x16.F32";
  const Opcode opcode = trace::opcode_from_name(name).value();
  const std::uint32_t columns = static_cast<std::uint32_t>(std::stoul(row.name));
  MemoryOperand operands;  // a quarter of each
  operands.bytes = ((row.other == "SS" ? 64 : 0) + columns) * 16 * 2 / 4;
  operands.wavefronts = static_cast<std::uint16_t>((operands.bytes + 127) / 128);
  WarpProgram program;
  program.name = "products";
  add(program, Opcode::WARPGROUP_ARRIVE, 0);
  for (int i = 0; i < row.n; ++i) {
    add(program, opcode, i + 1 == row.n ? 1 : 0, &operands);
  }
  add(program, Opcode::WARPGROUP_DEPBAR_LE, 0);
  return looped(program, 1, static_cast<std::uint32_t>(row.warps));
}

Microbenchmark bulk(const MeasuredRow& row) {
  const auto ctas = static_cast<std::uint32_t>(std::stoul(row.other));
  const auto bytes = static_cast<std::uint32_t>(row.n);
  MemoryOperand box;
  box.tensor = 0;
  box.bytes = bytes;
  box.offset.per_block[0] = bytes;
  WarpProgram program;
  program.name = "copy";
  add(program, Opcode::SYNCS_ARRIVE, 0);
  add(program, Opcode::UTMALDG, 0, &box);
  add(program, Opcode::SYNCS_PHASECHK_TRYWAIT, 0);
  Microbenchmark result = looped(program, ctas, 1);
  result.trace.tensors.push_back(
      {"data", trace::TensorKind::input, 1, static_cast<std::int64_t>(bytes) * ctas});
  result.warm_l2 = true;
  for (Launch& launch : result.trace.launches) {
    launch.shared_bytes_per_cta = bytes + 64;
    launch.mbarriers = {{1, 1, bytes, false}};
  }
  return result;
}

}  // namespace warpscope::validation
