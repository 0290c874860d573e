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
/// Stall count of branches, and of BSYNC, in code built by ptxas 12/13 where nothing else is waited for.
constexpr int kBranchStall = 5;

/// The latest result of a register, if it has a fixed latency and this block wrote it.
struct FixedResult {
  bool pending = false;
  trace::Opcode writer = trace::Opcode::NOP;
  int issued = 0;
};

class BlockAssigner {
 public:
  BlockAssigner(const std::vector<Instruction>& code, OpenDependences& open, const Scoreboards& scoreboards,
                const RegisterSet& written_elsewhere, const CompilerTarget& target)
      : code_(code),
        open_(open),
        scoreboards_(scoreboards),
        written_elsewhere_(written_elsewhere),
        target_(target),
        ports_(target, target.xu_interval),
        awaited_with_later_(awaited_with_later(code)),
        has_late_load_(has_late_load(code)) {}

  std::vector<Instruction> assign() {
    result_.reserve(code_.size());
    scoreboards_.hold(awaited_from_before());
    for (std::size_t i = 0; i < code_.size(); ++i) {
      append(i);
    }
    if (!code_.empty() && code_.back().opcode != trace::Opcode::EXIT) {
      stall_until(last_result_);  // what comes next knows nothing of what is under way
    }
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
    const bool branch = op_class == OpClass::branch || op_class == OpClass::convergence;
    const int free = branch ? last_result_ - kLongestStall : ports_.earliest(instruction.opcode);
    const int issue = await_operands(instruction, free, variable ? 1 : latency);
    const bool hmma = has_scoreboard(instruction.opcode);
    stall_until(issue);
    ports_.issue(instruction, issue);

    scoreboards_.waited(instruction.control.wait_mask);
    open_.waited(instruction.control.wait_mask);
    if (variable) {
      set_result_scoreboard(i, instruction);
      set_source_scoreboard(i, instruction);
    } else {
      each_register(instruction.destination, [&](std::size_t r) {
        fixed_[r] = {true, instruction.opcode, issue};
        open_.write_boards[r] = open_.read_boards[r] = 0;
        if (!hmma) {
          last_result_ = std::max(last_result_, issue + longest_latency(target_, instruction.opcode, r));
        }
      });
    }
    if (hmma) {
      set_hmma_scoreboard(instruction);
    }
    result_.push_back(instruction);
    time_ = issue + 1;
    if (branch) {
      stall_until(issue + kBranchStall);
    }
  }

  // The scoreboards of what is open where the block begins, and that it waits for.
  std::uint8_t awaited_from_before() const {
    unsigned mask = 0;
    for (const Instruction& instruction : code_) {
      for (const RegisterRange& source : instruction.sources) {
        each_register(source, [&](std::size_t r) { mask |= open_.write_boards[r]; });
      }
      each_register(instruction.destination,
                    [&](std::size_t r) { mask |= open_.write_boards[r] | open_.read_boards[r]; });
    }
    return static_cast<std::uint8_t>(mask);
  }

  bool has_scoreboard(trace::Opcode opcode) const { return target_.hmma_scoreboard && is_hmma(opcode); }

  // When `reader` may read a result of fixed latency in register `r`.
  int ready_for(trace::Opcode reader, std::size_t r) const {
    const FixedResult& result = fixed_[r];
    if (has_scoreboard(result.writer) && !is_hmma(reader)) {
      return 0;
    }
    return result.pending ? result.issued + planned_latency(target_, result.writer, reader, r) : 0;
  }

  // Sets the scoreboards that `instruction` waits for. Returns when it may issue: with its pipe free and its
  // operands ready, whose own result takes `latency`.
  int await_operands(Instruction& instruction, int pipe_free, int latency) const {
    int issue = std::max(time_, pipe_free);
    std::uint8_t wait = 0;
    for (const RegisterRange& source : instruction.sources) {
      each_register(source, [&](std::size_t r) {
        issue = std::max(issue, ready_for(instruction.opcode, r));
        wait = static_cast<std::uint8_t>(wait | open_.write_boards[r]);
      });
    }
    each_register(instruction.destination, [&](std::size_t r) {
      // Results must not arrive in the wrong order.
      const FixedResult& before = fixed_[r];
      issue =
          std::max(issue, before.pending && !(has_scoreboard(before.writer) && !is_hmma(instruction.opcode))
                              ? before.issued + planned_latency(target_, before.writer) - latency
                              : 0);
      wait = static_cast<std::uint8_t>(wait | open_.write_boards[r] | open_.read_boards[r]);
    });
    if (has_scoreboard(instruction.opcode)) {
      wait =
          static_cast<std::uint8_t>(wait & ~(1U << scoreboards_.hmma()));  // the tensor pipe keeps the order
    }
    instruction.control.wait_mask = wait;
    return issue;
  }

  void set_hmma_scoreboard(Instruction& instruction) {
    const auto bit = static_cast<std::uint8_t>(1U << scoreboards_.hmma());
    instruction.control.write_scoreboard = static_cast<std::uint8_t>(scoreboards_.hmma());
    each_register(instruction.destination, [&](std::size_t r) { open_.write_boards[r] = bit; });
    for (const RegisterRange& source : instruction.sources) {
      each_register(source, [&](std::size_t r) {
        open_.read_boards[r] = static_cast<std::uint8_t>(open_.read_boards[r] | bit);
      });
    }
  }

  void set_result_scoreboard(std::size_t i, Instruction& instruction) {
    if (instruction.destination.count == 0) {
      return;
    }
    if (awaited_with_later_[i]) {
      each_register(instruction.destination, [&](std::size_t r) {
        fixed_[r] = {};
        open_.write_boards[r] = 0;
      });
      return;
    }
    const OpClass op_class = trace::info(instruction.opcode).op_class;
    const bool early_load = op_class == OpClass::global_load && !has_late_load_;
    const int board = is_late_load(code_, i) ? Scoreboards::late_load()
                      : early_load           ? scoreboards_.early_load()
                                             : scoreboards_.result(op_class);
    instruction.control.write_scoreboard = static_cast<std::uint8_t>(board);
    each_register(instruction.destination, [&](std::size_t r) {
      fixed_[r] = {};
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
  bool has_late_load_;
  std::vector<Instruction> result_;
  std::vector<FixedResult> fixed_ = std::vector<FixedResult>(OpenDependences::kRegisters);
  int time_ = 0;         // of the next instruction, if nothing holds it back
  int last_result_ = 0;  // when the latest result of fixed latency may be read
};

}  // namespace

std::vector<Instruction> with_control_bits(const std::vector<Instruction>& code, OpenDependences& open,
                                           const Scoreboards& scoreboards,
                                           const RegisterSet& written_elsewhere,
                                           const CompilerTarget& target) {
  return BlockAssigner(code, open, scoreboards, written_elsewhere, target).assign();
}

}  // namespace warpscope::kernels
