#include "model/trace/statistics.hpp"

#include <algorithm>
#include <set>

#include "model/trace/code_places.hpp"
#include "model/trace/execution_count.hpp"

namespace warpscope::trace {
namespace {

/// CTAs by partial class sum.
using Histogram = std::vector<std::uint64_t>;

Histogram histogram_of(const std::vector<std::uint32_t>& table, std::uint32_t extent) {
  if (table.empty()) {
    return {extent};
  }
  Histogram histogram(std::size_t{*std::ranges::max_element(table)} + 1);
  for (const std::uint32_t value : table) {
    ++histogram[value];
  }
  return histogram;
}

Histogram convolve(const Histogram& a, const Histogram& b) {
  Histogram result(a.size() + b.size() - 1);
  for (std::size_t i = 0; i < a.size(); ++i) {
    // Counts of CTAs: all of them together fit 64 bits.
    for (std::size_t j = 0; j < b.size() && a[i] != 0; ++j) {
      result[i + j] += a[i] * b[j];
    }
  }
  return result;
}

/// Calls visit(instruction, program, executions) for all code that `ctas` CTAs of a class execute.
template <typename Visit>
void for_each_executed(const Launch& launch, const CtaClass& cta_class, std::uint64_t ctas, Visit visit) {
  std::map<std::uint16_t, std::uint64_t> warps_of_program;
  for (const std::uint16_t program : cta_class.program_of_warp) {
    ++warps_of_program[program];
  }
  for (const auto& [number, warps] : warps_of_program) {
    const WarpProgram& program = launch.programs[number];
    const std::uint64_t entries = checked_multiply(ctas, warps);
    for (const ExecutedStretch& stretch : executed_stretches(program, cta_class)) {
      const std::uint64_t executions = checked_multiply(entries, stretch.count);
      for (std::uint32_t i = stretch.begin; i < stretch.end && executions > 0; ++i) {
        visit(program.code[i], program, executions);
      }
    }
  }
}

/// The same over the whole grid.
template <typename Visit>
void for_each_executed(const Launch& launch, Visit visit) {
  const std::vector<std::uint64_t> ctas = ctas_per_class(launch);
  for (std::size_t c = 0; c < launch.classes.size(); ++c) {
    for_each_executed(launch, launch.classes[c], ctas[c], visit);
  }
}

void add(std::uint64_t& sum, std::uint64_t value) {
  sum = checked_add(sum, value);
}

void add_requested(std::vector<RequestedBytes>& result, const Instruction& instruction,
                   const WarpProgram& program, std::uint64_t executions) {
  const OpClass op_class = info(instruction.opcode).op_class;
  if (!is_global_memory(op_class)) {
    return;
  }
  const MemoryOperand& operand = program.memory_operands[instruction.memory];
  const bool reads = op_class == OpClass::async_copy || op_class == OpClass::global_load ||
                     op_class == OpClass::local_load || op_class == OpClass::bulk_load;
  RequestedBytes& bytes = result[operand.tensor];
  add(reads ? bytes.read : bytes.written, checked_multiply(executions, operand.bytes));
}

}  // namespace

std::vector<std::uint64_t> ctas_per_class(const Launch& launch) {
  Histogram sums = {1};
  for (std::size_t d = 0; d < 3; ++d) {
    sums = convolve(sums, histogram_of(launch.class_of_block[d], launch.grid[d]));
  }
  sums.resize(launch.classes.size());
  return sums;
}

std::vector<std::uint64_t> instructions_per_cta(const Launch& launch) {
  std::vector<std::uint64_t> result;
  for (const CtaClass& cta_class : launch.classes) {
    std::uint64_t& sum = result.emplace_back(0);
    for (const std::uint16_t program : cta_class.program_of_warp) {
      for (const ExecutedStretch& stretch : executed_stretches(launch.programs[program], cta_class)) {
        add(sum, checked_multiply(stretch.count, stretch.end - stretch.begin));
      }
    }
  }
  return result;
}

OpcodeCounts executed_instructions(const Launch& launch) {
  std::vector<std::uint64_t> counts(all_opcodes().size());
  for_each_executed(launch,
                    [&](const Instruction& instruction, const WarpProgram&, std::uint64_t executions) {
                      add(counts[static_cast<std::size_t>(instruction.opcode)], executions);
                    });
  OpcodeCounts result;
  for (const OpcodeInfo& row : all_opcodes()) {
    const std::uint64_t count = counts[static_cast<std::size_t>(row.opcode)];
    if (count > 0) {
      result[row.opcode] = count;
    }
  }
  return result;
}

std::uint64_t executed_code_bytes(const Launch& launch) {
  constexpr std::uint64_t kLineInstructions = 8;  // 16 bytes each
  std::vector<std::vector<bool>> lines;
  std::vector<std::vector<std::uint32_t>> places;
  for (const WarpProgram& program : launch.programs) {
    places.push_back(code_places(program));
    lines.emplace_back(places.back().back() / kLineInstructions + 1);
  }
  const std::vector<std::uint64_t> ctas = ctas_per_class(launch);
  for (std::size_t c = 0; c < launch.classes.size(); ++c) {
    const std::vector<std::uint16_t>& of_warps = launch.classes[c].program_of_warp;
    const std::set<std::uint16_t> programs(of_warps.begin(), of_warps.end());
    for (const std::uint16_t program : ctas[c] > 0 ? programs : std::set<std::uint16_t>()) {
      for (const ExecutedStretch& stretch : executed_stretches(launch.programs[program], launch.classes[c])) {
        if (stretch.count > 0 && stretch.end > stretch.begin) {
          for (std::uint32_t i = stretch.begin; i < stretch.end; ++i) {
            lines[program][places[program][i] / kLineInstructions] = true;
          }
        }
      }
    }
  }
  std::uint64_t bytes = 0;
  for (const std::vector<bool>& of_program : lines) {
    bytes += static_cast<std::uint64_t>(std::ranges::count(of_program, true) * kLineBytes);
  }
  return bytes;
}

OpcodeCounts executed_instructions(const Trace& trace) {
  OpcodeCounts result;
  for (const Launch& launch : trace.launches) {
    for (const auto& [opcode, count] : executed_instructions(launch)) {
      add(result[opcode], count);
    }
  }
  return result;
}

std::uint64_t executed_in_operation(const Trace& trace, std::string_view operation) {
  std::uint64_t sum = 0;
  for (const Launch& launch : trace.launches) {
    for_each_executed(
        launch, [&](const Instruction& instruction, const WarpProgram& program, std::uint64_t executions) {
          if (instruction.operation > 0 &&
              program.operations[instruction.operation - std::size_t{1}] == operation) {
            add(sum, executions);
          }
        });
  }
  return sum;
}

std::uint64_t total(const OpcodeCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [opcode, count] : counts) {
    add(sum, count);
  }
  return sum;
}

std::uint64_t flops(const OpcodeCounts& counts) {
  std::uint64_t sum = 0;
  for (const auto& [opcode, count] : counts) {
    add(sum, checked_multiply(count, info(opcode).flops));
  }
  return sum;
}

bool uses_tensor_pipe(const Launch& launch) {
  return std::ranges::any_of(launch.programs, [](const WarpProgram& program) {
    return std::ranges::any_of(program.code, [](const Instruction& instruction) {
      return info(instruction.opcode).pipe == Pipe::tensor;
    });
  });
}

std::vector<RequestedBytes> requested_bytes(const Trace& trace, const Launch& launch) {
  std::vector<RequestedBytes> result(trace.tensors.size());
  for_each_executed(
      launch, [&](const Instruction& instruction, const WarpProgram& program, std::uint64_t executions) {
        add_requested(result, instruction, program, executions);
      });
  return result;
}

std::vector<RequestedBytes> requested_bytes(const Trace& trace) {
  std::vector<RequestedBytes> result(trace.tensors.size());
  for (const Launch& launch : trace.launches) {
    const std::vector<RequestedBytes> part = requested_bytes(trace, launch);
    for (std::size_t i = 0; i < result.size(); ++i) {
      add(result[i].read, part[i].read);
      add(result[i].written, part[i].written);
    }
  }
  return result;
}

}  // namespace warpscope::trace
