#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/trace/execution_count.hpp"
#include "model/trace/validation.hpp"

namespace warpscope::trace {
namespace {

/// Executions of each barrier by a warp that runs a program once.
using BarrierCounts = std::map<std::uint16_t, std::uint64_t>;

BarrierCounts count_barriers(const WarpProgram& program, const CtaClass& cta_class) {
  BarrierCounts counts;
  for (const ExecutedStretch& stretch : executed_stretches(program, cta_class)) {
    for (std::uint32_t i = stretch.begin; i < stretch.end && stretch.count > 0; ++i) {
      const Instruction& instruction = program.code[i];
      if (info(instruction.opcode).op_class == OpClass::barrier) {
        std::uint64_t& count = counts[instruction.immediate];
        count = checked_add(count, stretch.count);
      }
    }
  }
  return counts;
}

std::uint64_t count_of(const BarrierCounts& counts, std::uint16_t barrier) {
  const auto found = counts.find(barrier);
  return found == counts.end() ? 0 : found->second;
}

void compare(const ValidationContext& context, std::size_t class_number, std::size_t warp,
             const BarrierCounts& expected, const BarrierCounts& found) {
  for (std::uint16_t barrier = 0; barrier < 16; ++barrier) {
    const std::uint64_t a = count_of(expected, barrier);
    const std::uint64_t b = count_of(found, barrier);
    if (a != b) {
      context.fail(
          fmt::format("class {}, executions of BAR.SYNC {} by warps 0 and {}", class_number, barrier, warp),
          fmt::format("{} and {}", a, b),
          "all warps of a CTA pass a barrier equally often, or the CTA would wait forever");
    }
  }
}

/// The outermost loop around instruction `i`, or null.
const Loop* outermost_loop(const WarpProgram& program, std::size_t i) {
  const auto found =
      std::ranges::find_if(program.loops, [&](const Loop& loop) { return loop.begin <= i && i < loop.end; });
  return found == program.loops.end() ? nullptr : &*found;
}

/// Every iteration of a loop whose instructions go through a table of symbols has its entry.
void validate_tables(const ValidationContext& context, const WarpProgram& program, std::size_t class_number,
                     const CtaClass& cta_class) {
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    if (program.code[i].memory == kNoMemory) {
      continue;
    }
    const MemoryOperand& operand = program.memory_operands[program.code[i].memory];
    for (const AffineIndex* index : {&operand.segment, &operand.offset}) {
      if (!index->symbol_table) {
        continue;
      }
      const Loop* loop = outermost_loop(program, i);
      const std::uint64_t trips = loop == nullptr ? 1 : cta_class.trip_counts[loop->trip_slot];
      if (static_cast<std::uint64_t>(index->symbol) + trips > cta_class.symbols.size()) {
        context.at_instruction(i).fail(
            "table", fmt::format("tab{}", index->symbol),
            fmt::format("class {} has {} symbols, from 0, for the {} trips of the outermost loop",
                        class_number, cta_class.symbols.size(), trips));
      }
    }
  }
}

}  // namespace

void validate_references(const ValidationContext& context, const WarpProgram& program,
                         std::size_t class_number, const CtaClass& cta_class) {
  for (const Loop& loop : program.loops) {
    if (loop.trip_slot >= cta_class.trip_counts.size()) {
      context.fail(
          "trip slot", std::to_string(loop.trip_slot),
          fmt::format("class {} has {} trips, from slot 0", class_number, cta_class.trip_counts.size()));
    }
  }
  for (const MemoryOperand& operand : program.memory_operands) {
    for (const std::int16_t symbol : {operand.segment.symbol, operand.offset.symbol}) {
      if (symbol != kNoSymbol && static_cast<std::size_t>(symbol) >= cta_class.symbols.size()) {
        context.fail("symbol", std::to_string(symbol),
                     fmt::format("class {} has {} symbols, from 0", class_number, cta_class.symbols.size()));
      }
    }
  }
  validate_tables(context, program, class_number, cta_class);
  try {
    executed_stretches(program, cta_class);
  } catch (const std::invalid_argument& error) {
    context.fail(fmt::format("class {}, trips", class_number), error.what(), "fewer trips");
  }
}

void validate_barriers(const ValidationContext& context, const Launch& launch) {
  for (std::size_t c = 0; c < launch.classes.size(); ++c) {
    const CtaClass& cta_class = launch.classes[c];
    std::map<std::uint16_t, BarrierCounts> counts_of_program;
    for (std::size_t warp = 1; warp < cta_class.program_of_warp.size(); ++warp) {
      const std::uint16_t program = cta_class.program_of_warp[warp];
      const std::uint16_t first = cta_class.program_of_warp[0];
      if (program == first || counts_of_program.contains(program)) {
        continue;  // equal by construction, or compared already
      }
      for (const std::uint16_t needed : {first, program}) {
        if (!counts_of_program.contains(needed)) {
          counts_of_program[needed] = count_barriers(launch.programs[needed], cta_class);
        }
      }
      compare(context, c, warp, counts_of_program[first], counts_of_program[program]);
    }
  }
}

}  // namespace warpscope::trace
