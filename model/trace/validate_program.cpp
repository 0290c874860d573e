#include <fmt/format.h>

#include <algorithm>

#include "model/trace/execution_count.hpp"
#include "model/trace/trace_limits.hpp"
#include "model/trace/validation.hpp"

namespace warpscope::trace {
namespace {

constexpr std::uint32_t kEndOfPredicates = kFirstPredicate + 16;
constexpr std::uint32_t kMostBytes = 1024;       // 32 lanes, one 32-byte sector each
constexpr std::uint32_t kMostWgmmaBytes = 4096;  // a quarter of A and B of m64n256k16, with room
constexpr std::uint32_t kMostBoxBytes = 65536;
constexpr std::uint32_t kMostWavefronts = 128;
constexpr std::uint32_t kMostLines = 32;  // one per lane

/// Bytes that one lane of the instruction moves; 1 where lanes do not matter.
std::uint32_t lane_bytes(Opcode opcode) {
  const std::string_view name = info(opcode).name;
  if (name.ends_with("128") || name.starts_with("LDSM") || name.starts_with("STSM")) {
    return 16;
  }
  if (name.ends_with("64")) {
    return 8;
  }
  const OpClass op_class = info(opcode).op_class;
  if (op_class == OpClass::wgmma || is_bulk_copy(op_class)) {
    return 16;
  }
  return name.ends_with("16") ? 2 : 4;
}

void check_registers(const ValidationContext& context, const RegisterRange& range) {
  const std::uint32_t end = std::uint32_t{range.first} + range.count;
  if (range.first < kFirstPredicate && end > kFirstPredicate) {
    context.fail("registers", fmt::format("R{}:{}", range.first, range.count), "R0 to R4095");
  }
  if (end > kEndOfPredicates || (range.first >= kEndOfPredicates && range.count == 0)) {
    context.fail("predicates", fmt::format("P{}:{}", range.first - kFirstPredicate, range.count),
                 "P0 to P15");
  }
}

void check_control(const ValidationContext& context, const Instruction& instruction) {
  const ControlBits& control = instruction.control;
  if (!instruction.has_control) {
    if (control != ControlBits{}) {
      context.fail("control bits", "set", "without has_control they have their default values");
    }
    return;
  }
  if (control.stall_cycles < 1 || control.stall_cycles > 15) {
    context.fail("stall", std::to_string(control.stall_cycles), "1 to 15");
  }
  for (const std::uint8_t scoreboard : {control.write_scoreboard, control.read_scoreboard}) {
    if (scoreboard >= kScoreboards && scoreboard != kNoScoreboard) {
      context.fail("scoreboard", std::to_string(scoreboard), "0 to 5, or 7 for none");
    }
  }
  if (control.wait_mask >= 1 << kScoreboards) {
    context.fail("wait mask", std::to_string(control.wait_mask), "0 to 63");
  }
}

void check_operation(const ValidationContext& context, const WarpProgram& program,
                     const Instruction& instruction) {
  if (instruction.operation > program.operations.size()) {
    context.fail("operation", std::to_string(instruction.operation),
                 fmt::format("the program names {}", program.operations.size()));
  }
}

void check_immediate(const ValidationContext& context, const Instruction& instruction) {
  const OpClass op_class = info(instruction.opcode).op_class;
  const Launch& launch = context.trace->launches[context.position.launch];
  if (op_class == OpClass::barrier && instruction.immediate >= kBarrierNames) {
    const std::uint32_t warps = instruction.immediate / std::uint32_t{kBarrierNames};
    if (warps > warps_per_cta(launch)) {
      context.fail("warps of a barrier", std::to_string(warps),
                   fmt::format("the CTA has {}", warps_per_cta(launch)));
    }
    return;
  }
  const bool is_wait = op_class == OpClass::async_wait || op_class == OpClass::wgmma_wait;
  const bool is_ring =
      op_class == OpClass::mbarrier_arrive || op_class == OpClass::mbarrier_wait || is_bulk_copy(op_class);
  if (is_ring && instruction.immediate >= launch.mbarriers.size()) {
    context.fail("ring of mbarriers", std::to_string(instruction.immediate),
                 fmt::format("the launch has {}, from 0", launch.mbarriers.size()));
  }
  const int most = op_class == OpClass::barrier  ? kBarrierNames - 1
                   : is_wait                     ? kMostPendingGroups
                   : is_ring                     ? kMostRings - 1
                   : op_class == OpClass::wgmma  ? 1
                   : is_constant(op_class)       ? kConstantLines - 1
                   : op_class == OpClass::branch ? kMostJumpedOver
                                                 : 0;
  if (instruction.immediate > most) {
    const std::string_view what = op_class == OpClass::barrier  ? "barrier"
                                  : is_wait                     ? "pending groups"
                                  : op_class == OpClass::wgmma  ? "end of a group"
                                  : is_constant(op_class)       ? "line of constants"
                                  : op_class == OpClass::branch ? "instructions jumped over"
                                                                : "immediate";
    context.fail(what, std::to_string(instruction.immediate),
                 most == 0 ? "only barriers, branches, waits, HGMMA, SYNCS, UTMA, LDC and ULDC have one"
                           : fmt::format("0 to {}", most));
  }
}

void check_depth(const ValidationContext& context, const AffineIndex& index, std::size_t depth) {
  for (std::size_t k = depth; k < index.per_iteration.size(); ++k) {
    if (index.per_iteration[k] != 0) {
      context.fail("address term", fmt::format("i{}", k),
                   fmt::format("the instruction stands in {} loops, counted from i0", depth));
    }
  }
}

void check_memory(const ValidationContext& context, const WarpProgram& program,
                  const Instruction& instruction, std::size_t depth) {
  const OpClass op_class = info(instruction.opcode).op_class;
  // Operands of HGMMA may all be in registers.
  const bool may_have_shared = op_class == OpClass::wgmma;
  const bool wants_shared =
      is_shared_memory(op_class) || (may_have_shared && instruction.memory != kNoMemory);
  const bool wants_tensor = is_global_memory(op_class);
  if (instruction.memory == kNoMemory) {
    if (wants_shared || wants_tensor) {
      context.fail("memory operand", "none",
                   wants_shared ? "needs one in shared memory" : "needs one in a tensor");
    }
    return;
  }
  const std::string number = std::to_string(instruction.memory);
  if (instruction.memory >= program.memory_operands.size()) {
    context.fail("memory operand", number, fmt::format("{} exist, from 0", program.memory_operands.size()));
  }
  const MemoryOperand& operand = program.memory_operands[instruction.memory];
  const bool is_shared = operand.tensor == kSharedMemory;
  if (!wants_shared && !wants_tensor) {
    context.fail("memory operand", number, "this instruction has none");
  }
  if (is_shared != wants_shared) {
    context.fail("memory operand", is_shared ? "shared" : context.trace->tensors[operand.tensor].name,
                 wants_shared ? "needs shared memory" : "needs a tensor");
  }
  if (wants_tensor) {
    const Tensor& tensor = context.trace->tensors[operand.tensor];
    const bool wants_local = op_class == OpClass::local_load || op_class == OpClass::local_store;
    if (wants_local != (tensor.kind == TensorKind::local)) {
      context.fail("tensor", tensor.name,
                   wants_local ? "spills need a tensor of kind local"
                               : "tensors of kind local are for LDL and STL only");
    }
  }
  const std::uint32_t most = is_bulk_copy(op_class)       ? kMostBoxBytes
                             : op_class == OpClass::wgmma ? kMostWgmmaBytes
                                                          : kMostBytes;
  if (operand.bytes > most) {
    context.fail("bytes", std::to_string(operand.bytes), fmt::format("0 to {}", most));
  }
  if (operand.bytes % lane_bytes(instruction.opcode) != 0) {
    context.fail("bytes", std::to_string(operand.bytes),
                 fmt::format("a multiple of the {} that a lane moves", lane_bytes(instruction.opcode)));
  }
  if (is_shared && operand.bytes > 0 && operand.wavefronts == 0) {
    context.fail("wavefronts", "0",
                 fmt::format("1 to {}, or no bytes for a predicated-off access", kMostWavefronts));
  }
  check_depth(context, operand.segment, depth);
  check_depth(context, operand.offset, depth);
}

void check_index(const ValidationContext& context, const std::string& what, const AffineIndex& index) {
  for (const std::int32_t divisor : index.block_divisor) {
    if (divisor < 1) {
      context.fail(what + "divisor", std::to_string(divisor), "at least 1");
    }
  }
  if (index.symbol < kNoSymbol) {
    context.fail(what + "symbol", std::to_string(index.symbol), "at least 0, or -1 for none");
  }
  if (index.symbol == kNoSymbol && index.symbol_table) {
    context.fail(what + "table", "set", "only where there is a symbol");
  }
  if (index.symbol == kNoSymbol && index.per_symbol != 0) {
    context.fail(what + "symbol factor", std::to_string(index.per_symbol), "0 where there is no symbol");
  }
}

void check_operands(const ValidationContext& context, const WarpProgram& program) {
  for (std::size_t i = 0; i < program.memory_operands.size(); ++i) {
    const MemoryOperand& operand = program.memory_operands[i];
    const std::string what = fmt::format("memory operand {}, ", i);
    const std::size_t tensors = context.trace->tensors.size();
    if (operand.tensor != kSharedMemory && operand.tensor >= tensors) {
      context.fail(what + "tensor", std::to_string(operand.tensor), fmt::format("{} exist, from 0", tensors));
    }
    if (operand.tensor == kSharedMemory && operand.segment != AffineIndex{}) {
      context.fail(what + "segment", "set", "shared memory has no segments");
    }
    if (operand.bytes > kMostBoxBytes) {
      context.fail(what + "bytes", std::to_string(operand.bytes), fmt::format("0 to {}", kMostBoxBytes));
    }
    if (operand.wavefronts > kMostWavefronts) {
      context.fail(what + "wavefronts", std::to_string(operand.wavefronts),
                   fmt::format("0 to {}", kMostWavefronts));
    }
    const std::uint32_t most_lines = operand.tensor == kSharedMemory ? 0 : kMostLines;
    if (operand.lines > most_lines) {
      context.fail(what + "lines", std::to_string(operand.lines), fmt::format("0 to {}", most_lines));
    }
    check_index(context, what, operand.segment);
    check_index(context, what, operand.offset);
  }
}

/// Returns how many loops surround each loop.
std::vector<std::size_t> check_loops(const ValidationContext& context, const WarpProgram& program) {
  std::vector<std::size_t> depths;
  std::vector<const Loop*> open;
  for (const Loop& loop : program.loops) {
    const std::string range = fmt::format("[{}, {})", loop.begin, loop.end);
    if (loop.begin >= loop.end || loop.end > program.code.size()) {
      context.fail("loop", range, fmt::format("begin < end <= {} instructions", program.code.size()));
    }
    if (!depths.empty() && loop.begin < program.loops[depths.size() - 1].begin) {
      context.fail("loop", range, "loops are sorted by their begin, outer before inner");
    }
    while (!open.empty() && open.back()->end <= loop.begin) {
      open.pop_back();
    }
    if (!open.empty() && loop.end >= open.back()->end) {
      context.fail("loop", range,
                   fmt::format("must end inside [{}, {}), before its closing branch", open.back()->begin,
                               open.back()->end));
    }
    if (open.size() == kMaxLoopDepth) {
      context.fail("loop depth", std::to_string(kMaxLoopDepth + 1), fmt::format("at most {}", kMaxLoopDepth));
    }
    const Opcode last = program.code[loop.end - 1].opcode;
    if (last != Opcode::BRA) {
      context.at_instruction(loop.end - 1).fail("end of loop", info(last).name, "a loop ends with BRA");
    }
    if (program.code[loop.end - 1].immediate != 0) {
      context.at_instruction(loop.end - 1)
          .fail("instructions jumped over", std::to_string(program.code[loop.end - 1].immediate),
                "the BRA that ends a loop jumps back");
    }
    for (std::size_t k = open.size(); k < loop.trips_per_iteration.size(); ++k) {
      if (loop.trips_per_iteration[k] != 0) {
        context.fail("loop trips", fmt::format("i{}", k),
                     fmt::format("{} loops surround loop {}", open.size(), range));
      }
    }
    if (loop.again &&
        std::ranges::none_of(program.loops, [&](const Loop& before) { return before.end == loop.begin; })) {
      context.fail("loop again", range, "begins where another loop ends, whose code it goes through");
    }
    depths.push_back(open.size());
    open.push_back(&loop);
  }
  return depths;
}

}  // namespace

void validate_program(const ValidationContext& context, const WarpProgram& program) {
  if (program.code.empty() || program.code.back().opcode != Opcode::EXIT) {
    context.fail("end of program", program.code.empty() ? "nothing" : info(program.code.back().opcode).name,
                 "a program ends with EXIT");
  }
  check_operands(context, program);
  const std::vector<std::size_t> depths = check_loops(context, program);
  std::vector<std::uint32_t> open;  // ends of the loops around the instruction
  std::size_t next_loop = 0;
  for (std::size_t i = 0; i < program.code.size(); ++i) {
    while (!open.empty() && open.back() <= i) {
      open.pop_back();
    }
    for (; next_loop < program.loops.size() && program.loops[next_loop].begin == i; ++next_loop) {
      open.push_back(program.loops[next_loop].end);
    }
    const Instruction& instruction = program.code[i];
    const ValidationContext here = context.at_instruction(i);
    if (instruction.opcode == Opcode::EXIT && i + 1 != program.code.size()) {
      here.fail("EXIT", std::to_string(i), "only as the last instruction; early exits are not modelled");
    }
    check_registers(here, instruction.destination);
    for (const RegisterRange& source : instruction.sources) {
      check_registers(here, source);
    }
    check_control(here, instruction);
    check_immediate(here, instruction);
    check_operation(here, program, instruction);
    check_memory(here, program, instruction, open.size());
  }
}

}  // namespace warpscope::trace
