#include "kernels/compiler/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "kernels/compiler/control_bits.hpp"
#include "kernels/compiler/list_scheduler.hpp"
#include "kernels/compiler/opcode_kinds.hpp"
#include "kernels/compiler/register_banks.hpp"
#include "kernels/compiler/register_ranges.hpp"
#include "kernels/compiler/trace_machine.hpp"
#include "kernels/machine/check_plan.hpp"

namespace warpscope::kernels {
namespace {

bool has_products(const VirtualProgram& program) {
  return std::ranges::any_of(program.blocks, [](const BasicBlock& block) {
    return std::ranges::any_of(
        block.code, [](const trace::Instruction& instruction) { return is_hmma(instruction.opcode); });
  });
}

// Kernels without products have fewer addresses, and values for few instructions.
CompilerTarget target_of(const LaunchPlan& launch, const VirtualProgram& program, CompilerTarget target) {
  if (has_products(program)) {
    const int values = static_cast<int>(launch.registers_per_thread) - target.address_registers;
    target.value_registers = std::min(target.value_registers, values);
    target.source_order_cycles = 0;
  }
  return target;
}

// A last iteration that stands apart is the same code of the compiler's.
bool repeats(const VirtualProgram& program, std::size_t block) {
  return std::ranges::any_of(program.loops, [&](const VirtualLoop& loop) {
    return (!loop.at_most_once || loop.again) && loop.first_block <= block && block <= loop.last_block;
  });
}

// In a loop memory instructions are further apart the more time there is for each
// (pytorch_memory_intervals.csv).
int memory_interval_in_loops(const CompilerTarget& target, const ScheduledCode& block) {
  struct Step {
    double cycles_for_each;
    int interval;
  };
  static constexpr std::array kSteps{Step{17.8, 8}, Step{15.7, 6}, Step{12.5, 5}};
  const auto count = std::ranges::count_if(block.code, [](const trace::Instruction& instruction) {
    return trace::info(instruction.opcode).pipe == trace::Pipe::lsu;
  });
  const auto* step = std::ranges::find_if(kSteps, [&](const Step& candidate) {
    return block.cycles >= candidate.cycles_for_each * static_cast<double>(count);
  });
  return step != kSteps.end() ? step->interval : target.memory_interval;
}

void schedule(VirtualProgram& program, const CompilerTarget& target) {
  const std::vector<BlockLiveness> liveness = block_liveness(program);
  for (std::size_t i = 0; i < program.blocks.size(); ++i) {
    BasicBlock& block = program.blocks[i];
    ScheduledCode scheduled = schedule_block(block, liveness[i], target);
    if (repeats(program, i)) {
      block.memory_interval = memory_interval_in_loops(target, scheduled);
      scheduled = schedule_block(block, liveness[i], with_memory_interval(target, block.memory_interval));
    }
    block.code = std::move(scheduled.code);
  }
}

// The scheduler hides latency with what registers it can, and the source's order has operands of products
// early: the order that needs fewer shows what a compiler can do with the declared ones.
void check_registers(const LaunchPlan& launch, std::size_t live) {
  if (live > launch.registers_per_thread + static_cast<std::size_t>(launch.build.spilled_words)) {
    throw std::logic_error(
        fmt::format("{} registers hold values at once, registers_per_thread declares {}; declare as many, up "
                    "to 255, or hold less",
                    live, launch.registers_per_thread));
  }
}

// Expansion gives every predicate its own number; machine code has few and uses them again.
void rename_predicates(std::vector<trace::Instruction>& code) {
  constexpr std::size_t kPredicates = 16;
  std::vector<std::pair<std::uint16_t, std::size_t>> last_use;  // virtual number, index of the last reader
  const auto last_use_of = [&](std::uint16_t number) -> std::size_t& {
    const auto found = std::ranges::find(last_use, number, &std::pair<std::uint16_t, std::size_t>::first);
    return found != last_use.end() ? found->second : last_use.emplace_back(number, 0).second;
  };
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (code[i].destination.first >= trace::kFirstPredicate) {
      last_use_of(code[i].destination.first) = i;
    }
    for (const trace::RegisterRange& source : code[i].sources) {
      if (source.first >= trace::kFirstPredicate) {
        last_use_of(source.first) = i;
      }
    }
  }
  struct Holder {
    std::uint16_t number = 0;
    std::size_t until = 0;
    bool used = false;
  };
  std::array<Holder, kPredicates> holders{};
  const auto renamed = [&](std::uint16_t number, std::size_t i, bool is_new) {
    for (std::size_t p = 0; p < kPredicates; ++p) {
      if (holders[p].used && holders[p].number == number) {
        return static_cast<std::uint16_t>(trace::kFirstPredicate + p);
      }
    }
    std::size_t p = 0;
    while (is_new && p + 1 < kPredicates && holders[p].used && holders[p].until >= i) {
      ++p;
    }
    holders[p] = {number, last_use_of(number), true};
    return static_cast<std::uint16_t>(trace::kFirstPredicate + p);
  };
  for (std::size_t i = 0; i < code.size(); ++i) {
    for (trace::RegisterRange& source : code[i].sources) {
      if (source.first >= trace::kFirstPredicate) {
        source.first = renamed(source.first, i, false);
      }
    }
    if (code[i].destination.first >= trace::kFirstPredicate) {
      code[i].destination.first = renamed(code[i].destination.first, i, true);
    }
  }
}

/// FMULs and FADDs that a predicate guards are for arguments of an exponential or a logarithm that are all
/// but zero, which no kernel here has: they issue, and read none of their registers (predicated_off.csv). The
/// compiler does not know that they are turned off.
void read_nothing_where_turned_off(std::vector<trace::Instruction>& code) {
  for (trace::Instruction& instruction : code) {
    const bool scales =
        instruction.opcode == trace::Opcode::FMUL || instruction.opcode == trace::Opcode::FADD;
    if (scales && reads_predicate(instruction)) {
      for (trace::RegisterRange& source : instruction.sources) {
        source = is_predicate(source) ? source : trace::RegisterRange{};
      }
    }
  }
}

/// Numbers the operations of `names` that instructions are part of in the order in which they come up.
void name_operations(trace::WarpProgram& program, const std::vector<std::string>& names) {
  std::vector<std::uint8_t> numbers(names.size() + 1, 0);
  for (trace::Instruction& instruction : program.code) {
    std::uint8_t& number = numbers[instruction.operation];
    if (instruction.operation > 0 && number == 0) {
      program.operations.push_back(names[instruction.operation - std::size_t{1}]);
      number = static_cast<std::uint8_t>(program.operations.size());
    }
    instruction.operation = number;
  }
}

trace::WarpProgram assemble(std::string name, VirtualProgram program) {
  trace::WarpProgram result;
  result.name = std::move(name);
  result.memory_operands = std::move(program.memory_operands);
  std::vector<std::uint32_t> first;
  for (const BasicBlock& block : program.blocks) {
    first.push_back(static_cast<std::uint32_t>(result.code.size()));
    result.code.insert(result.code.end(), block.code.begin(), block.code.end());
  }
  first.push_back(static_cast<std::uint32_t>(result.code.size()));
  name_operations(result, program.operations);
  for (const VirtualLoop& loop : program.loops) {
    result.loops.push_back({first[loop.first_block], first[loop.last_block + 1], loop.trip_slot,
                            loop.trips_per_iteration, loop.again});
  }
  return result;
}

trace::WarpProgram lower_program(const KernelPlan& plan, const LaunchPlan& launch, const CtaProgram& program,
                                 const CompilerTarget& target, ClassTables& tables, std::size_t role) {
  TraceMachine machine(plan, launch, target, tables, role);
  program.text(machine);
  VirtualProgram code = machine.take();
  const std::size_t in_source_order = most_live_registers(code);
  schedule(code, target_of(launch, code, target));
  check_registers(launch, std::min(in_source_order, most_live_registers(code)));
  if (launch.build.spread_over_banks) {
    spread_over_banks(code);
  }
  for (BasicBlock& block : code.blocks) {
    if (block.ends_with_branch) {
      trace::Instruction& branch = block.code.emplace_back();
      branch.opcode = trace::Opcode::BRA;
      branch.operation = block.branch_operation;
      branch.immediate = static_cast<std::uint16_t>(block.jumps_over);
      branch.sources[0] = block.condition;
    }
    rename_predicates(block.code);
  }
  code.blocks.back().code.emplace_back().opcode = trace::Opcode::EXIT;
  assign_control_bits(code, target);
  for (BasicBlock& block : code.blocks) {
    read_nothing_where_turned_off(block.code);
  }
  const std::string suffix = launch.role_warps.empty() ? "" : "_role" + std::to_string(role);
  return assemble(program.name + suffix, std::move(code));
}

trace::Launch lower_launch(const KernelPlan& plan, const LaunchPlan& launch, const CompilerTarget& target) {
  check_launch(launch);
  trace::Launch result;
  result.name = launch.name;
  result.grid = launch.grid;
  result.threads_per_cta = static_cast<std::uint32_t>(32 * launch.warps);
  result.registers_per_thread = launch.registers_per_thread;
  result.shared_bytes_per_cta = launch.shared_bytes_per_cta;
  result.class_of_block = launch.class_of_block;
  result.mbarriers = launch.mbarriers;
  const std::vector<int> role_warps = warps_by_role(launch);
  ClassTables tables;
  CompilerTarget compiler = target;
  compiler.hmma_scoreboard = launch.build.math.hmma_scoreboard;
  if (!launch.build.estimate_moves) {
    compiler.instructions_per_move = 0;
  }
  for (const CtaProgram& program : launch.programs) {
    tables.begin_program();
    for (std::size_t role = 0; role < role_warps.size(); ++role) {
      result.programs.push_back(lower_program(plan, launch, program, compiler, tables, role));
    }
  }
  for (const PlanClass& plan_class : launch.classes) {
    result.classes.push_back(tables.translate(plan_class, role_warps));
  }
  return result;
}

}  // namespace

trace::Trace lower(const KernelPlan& plan, const CompilerTarget& target) {
  trace::Trace result;
  int frame_words = 1;  // of a CTA
  for (const LaunchPlan& launch : plan.launches) {
    frame_words = std::max(frame_words, launch.build.frame_words() * 32 * launch.warps);
  }
  for (const TensorSpec& tensor : plan.tensors) {
    const std::int64_t row_bytes = tensor.cols * element_bytes(tensor.type);
    result.tensors.push_back({tensor.name, tensor.kind, tensor.segments, tensor.rows * row_bytes,
                              tensor.interleaved_segments, tensor.line_segments,
                              tensor.line_segments > 1 ? row_bytes : 0, tensor.absent_rows * row_bytes});
  }
  result.tensors.push_back({"spills", trace::TensorKind::local, 1, std::int64_t{4} * frame_words});
  for (const LaunchPlan& launch : plan.launches) {
    try {
      result.launches.push_back(lower_launch(plan, launch, target));
    } catch (const std::logic_error& error) {
      throw std::logic_error("launch " + launch.name + ": " + error.what());
    }
  }
  return result;
}

}  // namespace warpscope::kernels
