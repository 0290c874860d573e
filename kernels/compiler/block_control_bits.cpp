#include "kernels/compiler/block_control_bits.hpp"

#include <algorithm>

#include "kernels/compiler/in_order_results.hpp"
#include "kernels/compiler/issue_ports.hpp"
#include "kernels/compiler/opcode_kinds.hpp"
#include "kernels/compiler/register_ranges.hpp"
#include "kernels/compiler/register_reuse.hpp"

namespace warpscope::kernels {
namespace {

using trace::Instruction;
using trace::OpClass;
using trace::RegisterRange;

constexpr int kLongestStall = 15;

class BlockAssigner {
 public:
  BlockAssigner(const std::vector<Instruction>& code, OpenDependences& open, const Scoreboards& scoreboards,
                const RegisterSet& written_elsewhere, const CompilerTarget& target)
      : code_(code),
        open_(open),
        scoreboards_(scoreboards),
        written_elsewhere_(written_elsewhere),
        target_(target),
        ports_(target),
        awaited_with_later_(awaited_with_later(code)) {}

  std::vector<Instruction> assign() {
    result_.reserve(code_.size());
    for (std::size_t i = 0; i < code_.size(); ++i) {
      append(i);
    }
    open_.advance(time_);
    return std::move(result_);
  }

 private:
  void append(std::size_t i) {
    Instruction instruction = code_[i];
    instruction.has_control = true;
    instruction.control = {};
    const OpClass op_class = trace::info(instruction.opcode).op_class;
    const bool variable = trace::has_variable_latency(op_class);
    const int latency = planned_latency(target_, instruction.opcode);
    const int issue =
        await_operands(instruction, ports_.earliest(instruction.opcode), variable ? 1 : latency);
    stall_until(issue);
    ports_.issue(instruction.opcode, issue);

    scoreboards_.waited(instruction.control.wait_mask);
    open_.waited(instruction.control.wait_mask);
    if (variable) {
      set_result_scoreboard(i, instruction);
      set_source_scoreboard(i, instruction);
    } else {
      each_register(instruction.destination, [&](std::size_t r) {
        open_.ready_in[r] = issue + latency;
        open_.write_boards[r] = open_.read_boards[r] = 0;
      });
    }
    result_.push_back(instruction);
    time_ = issue + 1;
  }

  // Sets the scoreboards that `instruction` waits for. Returns when it may issue: with its pipe free and its
  // operands ready, whose own result takes `latency`.
  int await_operands(Instruction& instruction, int pipe_free, int latency) const {
    int issue = std::max(time_, pipe_free);
    std::uint8_t wait = 0;
    for (const RegisterRange& source : instruction.sources) {
      each_register(source, [&](std::size_t r) {
        issue = std::max(issue, open_.ready_in[r]);
        wait = static_cast<std::uint8_t>(wait | open_.write_boards[r]);
      });
    }
    each_register(instruction.destination, [&](std::size_t r) {
      // Results must not arrive in the wrong order.
      issue = std::max(issue, open_.ready_in[r] - latency);
      wait = static_cast<std::uint8_t>(wait | open_.write_boards[r] | open_.read_boards[r]);
    });
    instruction.control.wait_mask = wait;
    return issue;
  }

  void set_result_scoreboard(std::size_t i, Instruction& instruction) {
    if (instruction.destination.count == 0) {
      return;
    }
    if (awaited_with_later_[i]) {
      each_register(instruction.destination,
                    [&](std::size_t r) { open_.ready_in[r] = open_.write_boards[r] = 0; });
      return;
    }
    const OpClass op_class = trace::info(instruction.opcode).op_class;
    const int board = is_late_load(code_, i) ? Scoreboards::late_load() : scoreboards_.result(op_class);
    instruction.control.write_scoreboard = static_cast<std::uint8_t>(board);
    each_register(instruction.destination, [&](std::size_t r) {
      open_.ready_in[r] = 0;
      open_.write_boards[r] = static_cast<std::uint8_t>(1U << board);
    });
  }

  void set_source_scoreboard(std::size_t i, Instruction& instruction) {
    const OpClass op_class = trace::info(instruction.opcode).op_class;
    const Reuse reuse = op_class == OpClass::xu ? Reuse::none : source_reuse(code_, i, written_elsewhere_);
    if (reuse == Reuse::none) {
      return;
    }
    const int board = reuse == Reuse::later ? scoreboards_.late_sources() : scoreboards_.sources(op_class);
    instruction.control.read_scoreboard = static_cast<std::uint8_t>(board);
    for (const RegisterRange& source : instruction.sources) {
      each_register(source, [&](std::size_t r) {
        open_.read_boards[r] = static_cast<std::uint8_t>(open_.read_boards[r] | 1U << board);
      });
    }
  }

  // Lets the latest instruction stall until `issue`; inserts NOPs where 15 cycles are not enough.
  void stall_until(int issue) {
    while (issue > time_) {
      if (result_.empty() || result_.back().control.stall_cycles == kLongestStall) {
        result_.emplace_back().has_control = true;  // a NOP
        ++time_;
        continue;
      }
      std::uint8_t& stall = result_.back().control.stall_cycles;
      const int more = std::min(issue - time_, kLongestStall - int{stall});
      stall = static_cast<std::uint8_t>(stall + more);
      time_ += more;
    }
  }

  const std::vector<Instruction>& code_;
  OpenDependences& open_;
  Scoreboards scoreboards_;
  const RegisterSet& written_elsewhere_;
  const CompilerTarget& target_;
  IssuePorts ports_;
  std::vector<bool> awaited_with_later_;
  std::vector<Instruction> result_;
  int time_ = 0;  // of the next instruction, if nothing holds it back
};

}  // namespace

std::vector<Instruction> with_control_bits(const std::vector<Instruction>& code, OpenDependences& open,
                                           const Scoreboards& scoreboards,
                                           const RegisterSet& written_elsewhere,
                                           const CompilerTarget& target) {
  return BlockAssigner(code, open, scoreboards, written_elsewhere, target).assign();
}

}  // namespace warpscope::kernels
