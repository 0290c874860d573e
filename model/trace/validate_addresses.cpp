// How far the memory operands of a program reach, over the grid, the warps, all iterations and all classes.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/trace/trace_limits.hpp"
#include "model/trace/validation.hpp"
#include "model/trace/wide_integer.hpp"

namespace warpscope::trace {
namespace {

Int128 size_of(std::int64_t value) {
  return value < 0 ? -Int128{value} : Int128{value};
}

/// The largest values that classes give to what a program refers to; none if no warp runs it.
struct LargestValues {
  std::vector<std::uint32_t> trip_counts;  ///< by trip slot
  std::vector<Int128> symbols;             ///< sizes
};

std::optional<LargestValues> largest_values(const Launch& launch, std::size_t program) {
  std::optional<LargestValues> found;
  for (const CtaClass& cta_class : launch.classes) {
    if (std::ranges::find(cta_class.program_of_warp, program) == cta_class.program_of_warp.end()) {
      continue;
    }
    LargestValues& most = found ? *found : found.emplace();
    most.trip_counts.resize(std::max(most.trip_counts.size(), cta_class.trip_counts.size()));
    most.symbols.resize(std::max(most.symbols.size(), cta_class.symbols.size()));
    for (std::size_t i = 0; i < cta_class.trip_counts.size(); ++i) {
      most.trip_counts[i] = std::max(most.trip_counts[i], cta_class.trip_counts[i]);
    }
    for (std::size_t i = 0; i < cta_class.symbols.size(); ++i) {
      most.symbols[i] = std::max(most.symbols[i], size_of(cta_class.symbols[i]));
    }
  }
  return found;
}

/// The highest iteration of `loop` inside loops whose highest iterations are `outer`.
Int128 last_iteration(const Loop& loop, const LargestValues& most, const std::vector<Int128>& outer) {
  Int128 trips = most.trip_counts[loop.trip_slot];
  for (std::size_t k = 0; k < outer.size(); ++k) {
    trips += std::max(0, loop.trips_per_iteration[k]) * outer[k];
  }
  return std::max(Int128{0}, std::min(trips, Int128{kMostTrips}) - 1);
}

/// No value of the index, nor a sum of some of its terms, is larger.
Int128 reach_of(const AffineIndex& index, const Launch& launch, const LargestValues& most,
                const std::vector<Int128>& last_iterations) {
  Int128 reach = size_of(index.offset) + size_of(index.per_warp) * (warps_per_cta(launch) - 1);
  for (std::size_t d = 0; d < index.per_block.size(); ++d) {
    const Int128 last_block = (std::int64_t{launch.grid[d]} - 1) / index.block_divisor[d];
    reach += size_of(index.per_block[d]) * last_block;
  }
  for (std::size_t k = 0; k < last_iterations.size(); ++k) {
    reach += size_of(index.per_iteration[k]) * last_iterations[k];
  }
  if (index.symbol != kNoSymbol) {
    const auto first = most.symbols.begin() + index.symbol;
    const auto end = index.symbol_table ? most.symbols.end() : first + 1;
    reach += size_of(index.per_symbol) * *std::max_element(first, end);
  }
  return reach;
}

void check_reach(const ValidationContext& context, std::string_view what, Int128 reach) {
  if (reach > kMostAddress) {
    context.fail(fmt::format("reach of the {}", what), fmt::format("{:.4g}", static_cast<double>(reach)),
                 "the sizes of its terms add up to at most 2^48");
  }
}

}  // namespace

void validate_addresses(const ValidationContext& context, const Launch& launch, std::size_t number) {
  const WarpProgram& program = launch.programs[number];
  const std::optional<LargestValues> most = largest_values(launch, number);
  if (!most) {
    return;
  }
  std::vector<std::uint32_t> ends;  // of the loops around the instruction
  std::vector<Int128> last_iterations;
  std::size_t next_loop = 0;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    while (!ends.empty() && ends.back() <= i) {
      ends.pop_back();
      last_iterations.pop_back();
    }
    for (; next_loop < program.loops.size() && program.loops[next_loop].begin == i; ++next_loop) {
      ends.push_back(program.loops[next_loop].end);
      last_iterations.push_back(last_iteration(program.loops[next_loop], *most, last_iterations));
    }
    if (program.code[i].memory != kNoMemory) {
      const MemoryOperand& operand = program.memory_operands[program.code[i].memory];
      const ValidationContext here = context.at_instruction(i);
      check_reach(here, "segment", reach_of(operand.segment, launch, *most, last_iterations));
      check_reach(here, "offset", reach_of(operand.offset, launch, *most, last_iterations));
    }
  }
  // Operands that no instruction uses have an address all the same.
  for (std::size_t i = 0; i < program.memory_operands.size(); ++i) {
    const MemoryOperand& operand = program.memory_operands[i];
    check_reach(context, fmt::format("segment of operand {}", i),
                reach_of(operand.segment, launch, *most, {}));
    check_reach(context, fmt::format("offset of operand {}", i), reach_of(operand.offset, launch, *most, {}));
  }
}

}  // namespace warpscope::trace
