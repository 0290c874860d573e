#include "model/sm/decoded_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/numeric/conversion/cast.hpp>
#include <limits>
#include <stdexcept>

#include "model/sm/async_decode.hpp"
#include "model/sm/short_ways.hpp"
#include "model/trace/code_places.hpp"

namespace warpscope::sm {
namespace {

using trace::OpClass;

/// Instruction lines have numbers of 16 bits in the cache (sm_state.hpp), and 0 is none.
constexpr std::uint32_t kMostLines = std::numeric_limits<std::uint16_t>::max() - 1;

// The bounds of keys and traces keep every value within what holds it; one that is not must not be narrowed
// to another.
std::uint16_t u16(int value) {
  return boost::numeric_cast<std::uint16_t>(value);
}
std::uint8_t u8(int value) {
  return boost::numeric_cast<std::uint8_t>(value);
}

void set_lane_pipe(DecodedInstruction& out, PipeSlot pipe, const auto& spec) {
  out.pipe = pipe;
  out.interval = u16(kWarpLanes / spec.lanes);
  out.latency = u16(spec.latency_cycles);
}

void set_tensor(DecodedInstruction& out, const hw::TensorShape& shape) {
  out.pipe = PipeSlot::tensor;
  out.interval = u16(shape.interval_cycles);
  out.latency = u16(shape.latency_cycles);
  out.read_cycles = u8(shape.read_cycles);
}

/// Bytes a memory instruction moves through the data path, whatever part of them lies inside the tensor.
int moved_bytes(const DecodedLaunch& launch, const DecodedInstruction& instruction) {
  return instruction.memory == trace::kNoMemory
             ? 0
             : static_cast<int>(launch.memory_operands[instruction.memory].bytes);
}

int wavefronts(const DecodedLaunch& launch, const DecodedInstruction& instruction) {
  return instruction.memory == trace::kNoMemory ? 0 : launch.memory_operands[instruction.memory].wavefronts;
}

void set_shared(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch) {
  const int bytes = moved_bytes(launch, out);
  const int transfer = bytes / sm.shared.sub_core_bytes_per_clk;
  out.data_cycles = u16(std::max({1, wavefronts(launch, out), bytes / sm.shared.bytes_per_clk}));
  out.mio_cycles = u16(std::max(sm.mio.min_interval_cycles, transfer));
  out.latency = u16(sm.shared.base_latency_cycles + transfer);
}

void set_global(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch) {
  const int bytes = moved_bytes(launch, out);
  out.data_cycles = u16(std::max({1, wavefronts(launch, out), bytes / sm.shared.bytes_per_clk}));
  out.mio_cycles = u16(std::max(sm.mio.min_interval_cycles, int{out.data_cycles}));
  if (out.op_class == OpClass::async_copy) {
    out.data_cycles = u16(sm.global.async_copy_lsu_cycles);
    out.latency = u16(sm.global.async_copy_cycles);
  } else if (out.op_class == OpClass::global_reduce) {
    out.data_cycles = u16(std::max(int{out.data_cycles}, sm.global.reduce_interval_cycles));
  } else if (out.opcode == trace::Opcode::ATOM_32) {
    out.latency = u16(sm.global.atomic_cycles);
  } else if (out.op_class == OpClass::local_load) {
    out.latency = u16(sm.global.l1_latency_cycles);
  }
}

void set_timing(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch) {
  switch (out.op_class) {
    case OpClass::hmma_16816:
      return set_tensor(out, sm.tensor.hmma_16816);
    case OpClass::hmma_1688:
      return set_tensor(out, sm.tensor.hmma_1688);
    case OpClass::fma:
      return set_lane_pipe(out, PipeSlot::fma, sm.fma);
    case OpClass::imad:
      return set_lane_pipe(out, PipeSlot::fma, sm.imad);
    case OpClass::alu:
      return set_lane_pipe(out, PipeSlot::alu, sm.alu);
    case OpClass::xu:
      return set_lane_pipe(out, PipeSlot::xu, sm.xu);
    case OpClass::constant_load:
      out.latency = u16(sm.constant.latency_cycles);
      return;
    case OpClass::constant_operand:
    case OpClass::uniform:
      out.latency = u16(sm.issue.uniform_latency_cycles);
      return;
    case OpClass::shuffle:
      out.pipe = PipeSlot::mio;
      out.data_cycles = 1;
      out.mio_cycles = u16(sm.shuffle.interval_cycles);
      out.latency = u16(sm.shuffle.latency_cycles);
      return;
    case OpClass::shared_load:
    case OpClass::shared_store:
    case OpClass::shared_atomic:
      out.pipe = PipeSlot::mio;
      return set_shared(out, sm, launch);
    case OpClass::async_copy:
    case OpClass::global_load:
    case OpClass::global_store:
    case OpClass::global_reduce:
    case OpClass::local_load:
    case OpClass::local_store:
      out.pipe = PipeSlot::mio;
      return set_global(out, sm, launch);
    case OpClass::async_commit:
      out.pipe = PipeSlot::mio;
      out.data_cycles = 0;
      out.mio_cycles = 1;
      return;
    case OpClass::wgmma:
      return set_wgmma(out, sm, moved_bytes(launch, out), wavefronts(launch, out));
    default:
      return;
  }
}

/// Registers that a memory instruction reads: addresses, of 64 bits in global memory, and the data of a
/// store; of shared stores and SHFL those that they name, if any.
int registers_read(const DecodedInstruction& instruction, const trace::Instruction& traced,
                   const DecodedLaunch& launch) {
  constexpr int kMostData = 4;  // STS.128
  int named = 0;
  for (const trace::RegisterRange& source : traced.sources) {
    named += source.first < trace::kFirstPredicate ? source.count : 0;
  }
  const auto data = [&] {
    return std::clamp((moved_bytes(launch, instruction) + kRegisterBytes - 1) / kRegisterBytes, 1, kMostData);
  };
  switch (instruction.op_class) {
    case OpClass::async_commit:
      return 0;
    case OpClass::shuffle:
      return std::max(1, named);
    case OpClass::shared_store:
      return named > 0 ? named : 1 + data();
    case OpClass::shared_atomic:
    case OpClass::local_store:
      return 1 + data();
    case OpClass::global_load:
      return 2;
    case OpClass::global_store:
    case OpClass::global_reduce:
      return 2 + data();
    case OpClass::async_copy:
      return 3;
    default:
      return 1;
  }
}

/// Of them the ones that take time of their own, at the pace at which the sub-core's memory instructions
/// follow.
int registers_read_later(const DecodedInstruction& instruction, const trace::Instruction& traced,
                         const hw::Sm& sm, const DecodedLaunch& launch) {
  const int at_its_pace =
      std::max(1, instruction.mio_cycles * sm.shared.sub_core_bytes_per_clk / kRegisterBytes);
  return std::min(at_its_pace, registers_read(instruction, traced, launch));
}

/// `before` is the instruction in front of it, `product` the last tensor instruction; null: there is none.
void set_reads(DecodedInstruction& out, const hw::Sm& sm, const DecodedLaunch& launch,
               const trace::Instruction& instruction, const trace::Instruction* before,
               const trace::Instruction* product) {
  const int banks = sm.operands.banks;
  switch (out.pipe) {
    case PipeSlot::tensor:
      out.anew = product_reads(instruction, nullptr, banks);
      out.kept = product_reads(instruction, product, banks);
      return;
    case PipeSlot::fma:
    case PipeSlot::alu:
      out.anew = lane_reads(instruction, nullptr, banks);
      out.kept = lane_reads(instruction, before, banks);
      return;
    case PipeSlot::mio:
      out.anew = out.kept = {registers_read_later(out, instruction, sm, launch), 0};
      return;
    default:
      return;
  }
}

void append_loops(DecodedLaunch& out, const trace::WarpProgram& program, std::uint32_t base) {
  for (const trace::Loop& loop : program.loops) {
    DecodedLoop decoded;
    decoded.begin = base + loop.begin;
    decoded.end = base + loop.end;
    decoded.trip_slot = loop.trip_slot;
    decoded.trips_per_iteration = loop.trips_per_iteration;
    decoded.depth = u8(static_cast<int>(std::ranges::count_if(program.loops, [&](const trace::Loop& outer) {
      return &outer < &loop && outer.begin <= loop.begin && loop.end <= outer.end;
    })));
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

/// Whether two instructions take the same course, each at its own addresses.
bool alike(const DecodedLaunch& launch, std::uint32_t a, std::uint32_t b) {
  const auto course = [](DecodedInstruction instruction) {
    instruction.memory = 0;
    instruction.line = 0;
    instruction.loops_begun = 0;
    return instruction;
  };
  const auto access = [](trace::MemoryOperand operand) {
    operand.segment = operand.offset = {};
    return operand;
  };
  const DecodedInstruction& x = launch.code[a];
  const DecodedInstruction& y = launch.code[b];
  if (launch.needs_register_scoreboard && launch.register_uses[a] != launch.register_uses[b]) {
    return false;
  }
  if (course(x) != course(y) || (x.memory == trace::kNoMemory) != (y.memory == trace::kNoMemory)) {
    return false;
  }
  return x.memory == trace::kNoMemory ||
         access(launch.memory_operands[x.memory]) == access(launch.memory_operands[y.memory]);
}

/// Sets DecodedLoop::text.
void compare_loops(DecodedLaunch& out) {
  const auto same_text = [&](const DecodedLoop& a, const DecodedLoop& b) {
    if (!b.innermost || a.depth != b.depth || a.end - a.begin != b.end - b.begin) {
      return false;
    }
    std::uint32_t i = 0;
    while (i < a.end - a.begin && alike(out, a.begin + i, b.begin + i)) {
      ++i;
    }
    return i == a.end - a.begin;
  };
  for (std::uint32_t number = 0; number < out.loops.size(); ++number) {
    DecodedLoop& loop = out.loops[number];
    loop.text = number;
    for (std::uint32_t earlier = 0; loop.innermost && earlier < number && loop.text == number; ++earlier) {
      if (out.loops[earlier].text == earlier && same_text(loop, out.loops[earlier])) {
        loop.text = earlier;
      }
    }
  }
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
