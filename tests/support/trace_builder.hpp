// Tiny programs, written instruction by instruction.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "model/trace/launch.hpp"

namespace warpscope::test {

/// Builds a program; what follows `op` describes that instruction. An instruction that is given control bits
/// carries them, the others leave the decision to the register scoreboard.
class Program {
 public:
  explicit Program(std::string name = "p") { program_.name = std::move(name); }

  Program& op(trace::Opcode opcode, int times = 1) {
    trace::Instruction instruction;
    instruction.opcode = opcode;
    program_.code.insert(program_.code.end(), static_cast<std::size_t>(times), instruction);
    return *this;
  }
  Program& writes(std::uint16_t first, std::uint8_t count = 1) {
    last().destination = {first, count};
    return *this;
  }
  Program& reads(std::uint16_t first, std::uint8_t count = 1) {
    const auto free = std::ranges::find(last().sources, 0, &trace::RegisterRange::count);
    *free = {first, count};
    return *this;
  }
  Program& immediate(std::uint16_t value) {
    last().immediate = value;
    return *this;
  }
  Program& stall(std::uint8_t cycles) {
    control().stall_cycles = cycles;
    return *this;
  }
  /// Sets `scoreboard` until the result is there.
  Program& sets(std::uint8_t scoreboard) {
    control().write_scoreboard = scoreboard;
    return *this;
  }
  /// Sets `scoreboard` until the sources have been read.
  Program& holds(std::uint8_t scoreboard) {
    control().read_scoreboard = scoreboard;
    return *this;
  }
  Program& waits_for(std::uint8_t scoreboard) {
    control().wait_mask = static_cast<std::uint8_t>(control().wait_mask | 1U << scoreboard);
    return *this;
  }
  Program& shared(std::uint32_t bytes, std::uint16_t wavefronts) {
    trace::MemoryOperand operand;
    operand.bytes = bytes;
    operand.wavefronts = wavefronts;
    return memory(operand);
  }
  Program& global(std::uint16_t tensor, std::int64_t offset, std::uint32_t bytes) {
    trace::MemoryOperand operand;
    operand.tensor = tensor;
    operand.offset.offset = offset;
    operand.bytes = bytes;
    return memory(operand);
  }
  Program& memory(const trace::MemoryOperand& operand) {
    last().memory = static_cast<std::uint32_t>(program_.memory_operands.size());
    program_.memory_operands.push_back(operand);
    return *this;
  }
  Program& begin_loop(std::uint16_t trip_slot,
                      std::array<std::int32_t, trace::kMaxLoopDepth> per_iteration = {}) {
    open_.push_back(program_.loops.size());
    trace::Loop loop;
    loop.begin = static_cast<std::uint32_t>(program_.code.size());
    loop.trip_slot = trip_slot;
    loop.trips_per_iteration = per_iteration;
    program_.loops.push_back(loop);
    return *this;
  }
  /// Adds the closing branch.
  Program& end_loop() {
    op(trace::Opcode::BRA);
    program_.loops[open_.back()].end = static_cast<std::uint32_t>(program_.code.size());
    open_.pop_back();
    return *this;
  }
  Program& exit() { return op(trace::Opcode::EXIT); }

  trace::WarpProgram build() const { return program_; }
  /// With control bits on every instruction, as the fast mode needs.
  trace::WarpProgram build_controlled() const {
    trace::WarpProgram program = program_;
    std::ranges::for_each(program.code, [](trace::Instruction& i) { i.has_control = true; });
    return program;
  }

 private:
  trace::Instruction& last() { return program_.code.back(); }
  trace::ControlBits& control() {
    last().has_control = true;
    return last().control;
  }

  trace::WarpProgram program_;
  std::vector<std::size_t> open_;
};

/// `ctas` CTAs of `warps` warps that all run `program`.
inline trace::Launch one_program(trace::WarpProgram program, std::uint32_t warps = 1, std::uint32_t ctas = 1,
                                 std::vector<std::uint32_t> trips = {}) {
  trace::Launch launch;
  launch.name = "launch";
  launch.grid = {ctas, 1, 1};
  launch.threads_per_cta = 32 * warps;
  launch.programs = {std::move(program)};
  launch.classes = {{std::vector<std::uint16_t>(warps, 0), std::move(trips), {}}};
  return launch;
}

/// One CTA whose warp i runs programs[i].
inline trace::Launch one_warp_each(std::vector<trace::WarpProgram> programs) {
  trace::Launch launch;
  launch.name = "launch";
  launch.threads_per_cta = static_cast<std::uint32_t>(32 * programs.size());
  launch.classes.resize(1);
  for (std::size_t i = 0; i < programs.size(); ++i) {
    launch.classes[0].program_of_warp.push_back(static_cast<std::uint16_t>(i));
  }
  launch.programs = std::move(programs);
  return launch;
}

inline trace::Tensor tensor(std::string name, std::int64_t bytes, std::int64_t segments = 1,
                            trace::TensorKind kind = trace::TensorKind::input) {
  return {std::move(name), kind, segments, bytes};
}

}  // namespace warpscope::test
