// What CodeEmitter makes of instructions that were counted in a build: chains where they stand, and others
// evenly among the code of their block.
#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/compiler/code_emitter.hpp"
#include "kernels/compiler/opcode_kinds.hpp"
#include "kernels/compiler/operation_names.hpp"
#include "model/trace/trace_limits.hpp"

namespace warpscope::kernels {
namespace {

using trace::Instruction;
using trace::Opcode;
using trace::RegisterRange;

/// Whether a counted instruction that accesses no memory has a result.
bool has_result(Opcode opcode) {
  const trace::OpcodeInfo& fixed = trace::info(opcode);
  return fixed.pipe != trace::Pipe::control || fixed.op_class == trace::OpClass::constant_load;
}

bool makes_predicate(Opcode opcode) {
  return opcode == Opcode::ISETP || opcode == Opcode::FSETP || opcode == Opcode::PLOP3;
}

}  // namespace

std::vector<CodeEmitter::Counted> CodeEmitter::round_robin(std::span<const CountedInstruction> instructions) {
  std::vector<Counted> order;
  std::vector<int> left;
  for (const CountedInstruction& counted : instructions) {
    left.push_back(counted.count);
  }
  const int rounds = left.empty() ? 0 : *std::ranges::max_element(left);
  for (int round = 0; round < rounds; ++round) {
    for (std::size_t kind = 0; kind < left.size(); ++kind) {
      // Kind k appears in a fraction left/rounds of the rounds.
      const std::int64_t count = left[kind];
      if ((round + 1) * count / rounds > round * count / rounds) {
        const int placed = static_cast<int>(round * count / rounds);
        order.push_back({instructions[kind].opcode, placed < instructions[kind].new_lines});
      }
    }
  }
  return order;
}

void CodeEmitter::spread(std::span<const CountedInstruction> instructions) {
  // Each kind is spread over the whole block too.
  const std::vector<Counted> order = round_robin(instructions);
  pending_.insert(pending_.end(), order.begin(), order.end());
}

std::uint16_t CodeEmitter::parameter_line(const Counted& counted) {
  if (!trace::is_constant(trace::info(counted.opcode).op_class)) {
    return 0;
  }
  int& lines = parameter_lines_[counted.opcode];
  lines += counted.new_line || lines == 0 ? 1 : 0;
  return static_cast<std::uint16_t>(std::min(lines, trace::kConstantLines) - 1);
}

void CodeEmitter::chain(std::span<const CountedInstruction> instructions) {
  RegisterRange previous;
  const std::vector<Counted> links = round_robin(instructions);
  const auto makes_value = [](const Counted& counted) {
    return has_result(counted.opcode) && !makes_predicate(counted.opcode);
  };
  auto values_left = std::ranges::count_if(links, makes_value);
  for (const Counted& counted : links) {
    Instruction link;
    link.opcode = counted.opcode;
    link.operation = program_.operation_number(kCounted);
    link.immediate = parameter_line(counted);
    if (has_result(counted.opcode)) {
      link.sources[0] = previous;
      values_left -= makes_value(counted) ? 1 : 0;
      link.destination = makes_predicate(counted.opcode) ? temporary_predicate()
                         : values_left < kAddressChains  ? next_address()
                                                         : temporary(1);
      previous = link.destination;
    }
    current_.code.push_back(link);
  }
}

std::vector<std::size_t> CodeEmitter::pending_positions(const std::vector<Instruction>& code) const {
  // Values are spilled to make room for the operands of a product and reloaded when most of it is done, so
  // that spills do not stand between matrix loads. Everything else is spread evenly.
  const auto is_matrix_load = [](const Instruction& instruction) { return is_ldsm(instruction.opcode); };
  const auto first = static_cast<std::size_t>(std::ranges::find_if(code, is_matrix_load) - code.begin());
  const auto last =
      code.size() -
      static_cast<std::size_t>(std::find_if(code.rbegin(), code.rend(), is_matrix_load) - code.rbegin());
  struct Stretch {
    std::size_t begin, end, count = 0, placed = 0;
  };
  Stretch stores{0, first < code.size() ? first : code.size()};
  Stretch loads{first < code.size() ? last : 0, code.size()};
  Stretch others{0, code.size()};
  const auto stretch_of = [&](Opcode opcode) -> Stretch& {
    const trace::OpClass op_class = trace::info(opcode).op_class;
    return op_class == trace::OpClass::local_store  ? stores
           : op_class == trace::OpClass::local_load ? loads
                                                    : others;
  };
  for (const Counted& counted : pending_) {
    ++stretch_of(counted.opcode).count;
  }
  std::vector<std::size_t> positions;
  for (const Counted& counted : pending_) {
    Stretch& stretch = stretch_of(counted.opcode);
    positions.push_back(stretch.begin + stretch.placed++ * (stretch.end - stretch.begin) / stretch.count);
  }
  return positions;
}

bool CodeEmitter::take_pending(Opcode opcode) {
  const auto found = std::ranges::find(pending_, opcode, &Counted::opcode);
  const bool any = found != pending_.end();
  if (any) {
    pending_.erase(found);
  }
  return any;
}

Instruction CodeEmitter::counted_instruction(const Counted& counted) {
  const Opcode opcode = counted.opcode;
  const trace::OpClass op_class = trace::info(opcode).op_class;
  Instruction extra;
  extra.opcode = opcode;
  extra.operation = program_.operation_number(kCounted);
  extra.immediate = parameter_line(counted);
  // Most of what is spilled and reloaded are constants and values that are idle meanwhile: nothing waits for
  // the access itself, so it has no data register here.
  if (op_class == trace::OpClass::local_store || op_class == trace::OpClass::local_load) {
    extra.memory = add_operand(local_slot(opcode));
    extra.sources[0] = shared_base();
  } else if (op_class == trace::OpClass::shared_load) {
    extra.memory = add_operand({});  // predicated off: it reads nothing
    extra.sources[0] = shared_base();
  } else if (has_result(opcode)) {
    if (opcode != Opcode::S2R) {
      extra.sources[0] = last_result_;
    }
    extra.destination = temporary(1);
  }
  return extra;
}

void CodeEmitter::interleave_pending() {
  const std::vector<Instruction> code = std::exchange(current_.code, {});
  const std::vector<std::size_t> positions = pending_positions(code);
  std::vector<std::size_t> order(pending_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t k) { return positions[k]; });
  auto next = order.begin();
  last_result_ = {};
  for (std::size_t i = 0; i <= code.size(); ++i) {
    for (; next != order.end() && positions[*next] == i; ++next) {
      current_.code.push_back(counted_instruction(pending_[*next]));
    }
    if (i < code.size()) {
      current_.code.push_back(code[i]);
      note_result(code[i]);
    }
  }
  pending_.clear();
}

}  // namespace warpscope::kernels
