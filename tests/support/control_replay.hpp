// Replays control bits against register dependences: what the hardware would read too early without a
// scoreboard of its own.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/compiler/compiler_target.hpp"
#include "tests/support/trace_walk.hpp"

namespace warpscope::tests {

/// Dependences that the control bits of `program` leave open when a warp of `cta_class` runs it; empty = all
/// covered.
inline std::vector<std::string> uncovered_dependences(const trace::WarpProgram& program,
                                                      const trace::CtaClass& cta_class,
                                                      const kernels::CompilerTarget& target) {
  struct Register {
    std::int64_t issued = 0;  // when what wrote it with fixed latency issued,
    trace::Opcode writer = trace::Opcode::NOP;
    std::array<int, 6> write_pending{};  // setters of each scoreboard that have not been waited for
    std::array<int, 6> read_pending{};
    std::size_t op_class = 0;  // of the instruction whose result has no scoreboard,
    int number = 0;            // and which of that class it was
  };
  // Results of one class come in order: with one of them all earlier ones are there.
  struct InOrder {
    int issued = 0;
    int there = 0;
    std::array<int, 6> last_setter{};  // of each scoreboard
  };
  std::vector<Register> registers(trace::kFirstPredicate + 16);
  std::vector<InOrder> classes(64);
  std::vector<std::string> problems;
  std::int64_t time = 100;  // nothing is under way at the start
  const auto each = [&](const trace::RegisterRange& range, const auto& visit) {
    for (std::size_t k = 0; k < range.count; ++k) {
      visit(registers.at(range.first + k), range.first + k);
    }
  };
  // Three trips show what one iteration leaves to the next.
  walk(program, cta_class, 3, [&](const Step& step) {
    const trace::Instruction& instruction = program.code[step.index];
    const auto op_class = trace::info(instruction.opcode).op_class;
    const auto report = [&](std::size_t number, const char* what) {
      if (problems.size() < 10) {
        problems.push_back(
            fmt::format("{} at {}: R{} {}", trace::info(instruction.opcode).name, step.index, number, what));
      }
    };
    if (!instruction.has_control) {
      report(0, "no control bits");
    }
    for (std::size_t board = 0; board < 6; ++board) {
      if ((instruction.control.wait_mask >> board & 1) != 0) {
        for (Register& reg : registers) {
          reg.write_pending[board] = reg.read_pending[board] = 0;
        }
        for (InOrder& order : classes) {
          order.there = std::max(order.there, order.last_setter[board]);
        }
      }
    }
    const auto pending = [](const std::array<int, 6>& boards) {
      return std::ranges::any_of(boards, [](int setters) { return setters > 0; });
    };
    for (const trace::RegisterRange& source : instruction.sources) {
      each(source, [&](const Register& reg, std::size_t number) {
        if (reg.issued + kernels::planned_latency(target, reg.writer, instruction.opcode, number) > time) {
          report(number, "is read before its latency has passed");
        }
        if (pending(reg.write_pending)) {
          report(number, "is read before its scoreboard is waited for");
        }
        if (reg.number > classes[reg.op_class].there) {
          report(number, "is read before anything behind it is waited for");
        }
      });
    }
    const bool variable = trace::has_variable_latency(op_class);
    InOrder& order = classes.at(static_cast<std::size_t>(op_class));
    order.issued += variable ? 1 : 0;
    if (variable && instruction.control.write_scoreboard < 6) {
      order.last_setter[instruction.control.write_scoreboard] = order.issued;
    }
    const bool in_order = op_class == trace::OpClass::shared_load || op_class == trace::OpClass::shuffle ||
                          op_class == trace::OpClass::xu;
    const std::int64_t done = time + (variable ? 1 : kernels::planned_latency(target, instruction.opcode));
    each(instruction.destination, [&](Register& reg, std::size_t number) {
      if (reg.issued + kernels::planned_latency(target, reg.writer) > done) {
        report(number, "is written before an earlier result arrives");
      }
      if (pending(reg.write_pending) || pending(reg.read_pending) ||
          reg.number > classes[reg.op_class].there) {
        report(number, "is written while an earlier access is open");
      }
      reg = {};
      if (!variable) {
        reg.issued = time;
        reg.writer = instruction.opcode;
      } else if (instruction.control.write_scoreboard < 6) {
        ++reg.write_pending[instruction.control.write_scoreboard];
      } else if (in_order) {
        reg.op_class = static_cast<std::size_t>(op_class);
        reg.number = order.issued;
      } else {
        report(number, "has unknown latency and no scoreboard");
      }
    });
    if (instruction.control.read_scoreboard < 6) {
      for (const trace::RegisterRange& source : instruction.sources) {
        each(source,
             [&](Register& reg, std::size_t) { ++reg.read_pending[instruction.control.read_scoreboard]; });
      }
    }
    time += instruction.control.stall_cycles;
  });
  return problems;
}

}  // namespace warpscope::tests
