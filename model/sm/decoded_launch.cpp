#include "model/sm/decoded_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/numeric/conversion/cast.hpp>
#include <limits>
#include <stdexcept>

#include "model/sm/async_decode.hpp"
#include "model/sm/instruction_decode.hpp"
#include "model/sm/loop_texts.hpp"
#include "model/sm/short_ways.hpp"
#include "model/trace/code_places.hpp"

namespace warpscope::sm {
namespace {

using trace::OpClass;

/// Instruction lines have numbers of 16 bits in the cache (sm_state.hpp), and 0 is none.
constexpr std::uint32_t kMostLines = std::numeric_limits<std::uint16_t>::max() - 1;

void append_loops(DecodedLaunch& out, const trace::WarpProgram& program, std::uint32_t base) {
  for (const trace::Loop& loop : program.loops) {
    DecodedLoop decoded;
    decoded.begin = base + loop.begin;
    decoded.end = base + loop.end;
    decoded.trip_slot = loop.trip_slot;
    decoded.trips_per_iteration = loop.trips_per_iteration;
    decoded.depth =
        boost::numeric_cast<std::uint8_t>(std::ranges::count_if(program.loops, [&](const trace::Loop& outer) {
          return &outer < &loop && outer.begin <= loop.begin && loop.end <= outer.end;
        }));
    decoded.innermost = std::ranges::none_of(program.loops, [&](const trace::Loop& inner) {
      return &inner > &loop && loop.begin <= inner.begin && inner.end <= loop.end;
    });
    const auto number = static_cast<std::uint32_t>(out.loops.size());
    DecodedInstruction& first = out.code[decoded.begin];
    if (first.loops_begun == 0) {
      out.loop_ends[decoded.begin].begun = number;
    }
    ++first.loops_begun;
    DecodedInstruction& last = out.code[decoded.end - 1];
    last.closes_loop = true;
    out.loop_ends[decoded.end - 1].closed = number;
    out.loops.push_back(decoded);
  }
}

void append_program(DecodedLaunch& out, const hw::Sm& sm, const trace::WarpProgram& program) {
  const auto base = static_cast<std::uint32_t>(out.code.size());
  const auto memory_base = static_cast<std::uint32_t>(out.memory_operands.size());
  out.program_begin.push_back(base);
  out.memory_operands.insert(out.memory_operands.end(), program.memory_operands.begin(),
                             program.memory_operands.end());
  const trace::Instruction* before = nullptr;
  const trace::Instruction* product = nullptr;
  for (const trace::Instruction& instruction : program.code) {
    DecodedInstruction decoded;
    decoded.opcode = instruction.opcode;
    decoded.op_class = trace::info(instruction.opcode).op_class;
    decoded.global = trace::is_global_memory(decoded.op_class);
    out.is_asynchronous |= is_asynchronous(decoded.op_class);
    decoded.immediate = instruction.immediate;
    if (instruction.memory != trace::kNoMemory) {
      decoded.memory = memory_base + instruction.memory;
    }
    decoded.has_control = instruction.has_control;
    if (instruction.has_control) {
      decoded.stall = std::max<std::uint8_t>(1, instruction.control.stall_cycles);
      decoded.write_scoreboard = instruction.control.write_scoreboard;
      decoded.read_scoreboard = instruction.control.read_scoreboard;
      decoded.wait_mask = instruction.control.wait_mask;
    } else {
      out.needs_register_scoreboard = true;
    }
    set_timing(decoded, sm, out);
    set_reads(decoded, sm, out, instruction, before, product);
    before = &instruction;
    product = decoded.pipe == PipeSlot::tensor ? &instruction : product;
    out.register_uses.push_back({instruction.destination, instruction.sources});
    out.code.push_back(decoded);
  }
  out.loop_ends.resize(out.code.size());
  append_loops(out, program, base);
}

/// Numbers the registers that occur from 0 on, in their order: what is kept of each then takes little room.
void number_registers(DecodedLaunch& out) {
  std::vector<std::uint16_t> numbers;
  const auto for_each_range = [&](auto visit) {
    for (RegisterUse& use : out.register_uses) {
      visit(use.destination);
      std::ranges::for_each(use.sources, visit);
    }
  };
  for_each_range([&](const trace::RegisterRange& range) {
    numbers.resize(std::max(numbers.size(), std::size_t{range.first} + range.count));
    std::fill_n(numbers.begin() + range.first, range.count, std::uint16_t{1});
  });
  std::uint16_t next = 0;
  for (std::uint16_t& number : numbers) {
    number = number == 0 ? next : next++;
  }
  for_each_range([&](trace::RegisterRange& range) {
    range.first = range.count == 0 ? std::uint16_t{0} : numbers[range.first];
  });
  out.register_count = next;
}

}  // namespace

memory::AccessKind access_kind(OpClass op_class) {
  switch (op_class) {
    case OpClass::global_store:
    case OpClass::local_store:
    case OpClass::bulk_store:
      return memory::AccessKind::write;
    case OpClass::global_reduce:
      return memory::AccessKind::reduce;
    default:
      return memory::AccessKind::read;
  }
}

bool leaves_sm(const DecodedInstruction& instruction) {
  return instruction.global && instruction.op_class != OpClass::local_load &&
         instruction.memory != trace::kNoMemory;
}

DecodedLaunch decode(const hw::HwConfig& config, const trace::Trace& /*trace*/, const trace::Launch& launch) {
  DecodedLaunch out;
  out.warps_per_cta = trace::warps_per_cta(launch);
  out.mbarriers = launch.mbarriers;
  for (const trace::WarpProgram& program : launch.programs) {
    append_program(out, config.sm, program);
  }
  require_units(config, launch.name, out);
  compare_loops(out);
  const std::size_t instructions_per_line =
      static_cast<std::size_t>(config.sm.icache.line_bytes / kInstructionBytes);
  const std::vector<std::uint32_t> places = trace::code_places(launch);
  const std::uint32_t last = *std::ranges::max_element(places);
  if (last / instructions_per_line >= kMostLines) {
    throw std::invalid_argument(fmt::format("launch '{}' has {} instructions, more than {} lines of {}",
                                            launch.name, last + 1, kMostLines, config.id));
  }
  for (std::size_t i = 0; i < out.code.size(); ++i) {
    out.code[i].line = static_cast<std::uint16_t>(places[i] / instructions_per_line);
    out.code_lines = std::max(out.code_lines, out.code[i].line + 1U);
  }
  find_jumps(out);
  find_short_ways(out);
  number_registers(out);
  return out;
}

}  // namespace warpscope::sm
