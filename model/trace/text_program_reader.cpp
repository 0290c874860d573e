#include "model/trace/text_program_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "model/base/nearest_name.hpp"

namespace warpscope::trace {
namespace {

constexpr std::string_view kWordsOutside[] = {"tensor",  "launch", "program", "class", "class_x",  "class_y",
                                              "class_z", "grid",   "threads", "end",   "mbarriers"};

}  // namespace

LocatedProgram TextProgramReader::read(TextCursor& header) {
  result_ = {};
  open_loops_.clear();
  result_.program.name = header.name("program name");
  const std::size_t opened = header.line();
  header.expect('{', "after the program's name");
  header.expect_end("{");
  while (lines_.next()) {
    TextCursor cursor = lines_.cursor();
    if (cursor.accept('}')) {
      cursor.expect_end("}");
      if (open_loops_.empty()) {
        return std::move(result_);
      }
      close_loop(cursor);
      continue;
    }
    const std::string_view word = cursor.word();
    if (word == "loop") {
      read_loop(cursor);
    } else if (word == "operand") {
      result_.program.memory_operands.push_back(read_memory_operand(cursor, tensor_index_));
      cursor.expect_end("the memory operand");
    } else {
      read_instruction(cursor, word);
    }
  }
  fail_truncated(opened, result_.program.name);
}

void TextProgramReader::fail_truncated(std::size_t opened, const std::string& name) const {
  if (!open_loops_.empty()) {
    lines_.cursor().fail("end of file in the loop opened on line", std::to_string(open_loops_.back().line),
                         "expected its closing }");
  }
  lines_.cursor().fail("end of file in program", name,
                       fmt::format("expected the closing }} of the program opened on line {}", opened));
}

void TextProgramReader::read_loop(TextCursor& cursor) {
  if (open_loops_.size() == kMaxLoopDepth) {
    cursor.fail("loop depth", std::to_string(kMaxLoopDepth + 1),
                fmt::format("loops nest at most {} deep", kMaxLoopDepth));
  }
  constexpr std::string_view kLegal =
      "expected loop n=slot0 {, or n=slot0+i0*2 again { with terms of outer loops";
  if (cursor.word() != "n" || !cursor.accept('=')) {
    cursor.fail("loop", cursor.lookahead(), kLegal);
  }
  const std::string_view slot = cursor.word();
  if (!slot.starts_with("slot") || slot.size() == 4) {
    cursor.fail("loop trips", slot.empty() ? cursor.lookahead() : slot, kLegal);
  }
  Loop loop;
  TextCursor number = cursor.nested(slot.substr(4));
  loop.trip_slot = number.integer<std::uint16_t>("trip slot");
  number.expect_end("the slot's number");
  while (cursor.peek() != '{') {
    const bool negative = cursor.accept('-');
    if (!negative && !cursor.accept('+')) {
      const std::string_view word = cursor.word();
      loop.again = word == "again";
      if (!loop.again || cursor.peek() != '{') {
        cursor.fail("loop trips", loop.again || word.empty() ? cursor.lookahead() : word, kLegal);
      }
      break;
    }
    const std::string_view term = cursor.word();
    const std::size_t depth = term == "i0" ? 0 : term == "i1" ? 1 : kMaxLoopDepth;
    if (depth >= open_loops_.size() || loop.trips_per_iteration[depth] != 0) {
      cursor.fail("loop trips", term.empty() ? cursor.lookahead() : term,
                  "expected i0 or i1, once each, of a loop around this one");
    }
    std::int64_t factor = 1;
    if (cursor.accept_adjacent('*')) {
      factor = cursor.integer<std::int64_t>("factor", 1, negative ? 2147483648 : 2147483647);
    }
    loop.trips_per_iteration[depth] = static_cast<std::int32_t>(negative ? -factor : factor);
  }
  cursor.expect('{', "loop");
  cursor.expect_end("{");
  loop.begin = static_cast<std::uint32_t>(result_.program.code.size());
  open_loops_.push_back({result_.program.loops.size(), cursor.line()});
  result_.program.loops.push_back(loop);
}

void TextProgramReader::close_loop(TextCursor& cursor) {
  Loop& loop = result_.program.loops[open_loops_.back().index];
  loop.end = static_cast<std::uint32_t>(result_.program.code.size());
  if (loop.end == loop.begin) {
    cursor.fail("loop", "{ }", "needs instructions, the last of them BRA");
  }
  open_loops_.pop_back();
}

void TextProgramReader::read_instruction(TextCursor& cursor, std::string_view opcode) {
  const std::optional<Opcode> found = opcode_from_name(opcode);
  if (opcode.empty()) {
    cursor.fail("statement", cursor.lookahead(), "expected an opcode, loop, operand or }");
  }
  if (!found && std::ranges::find(kWordsOutside, opcode) != std::end(kWordsOutside)) {
    cursor.fail("statement", opcode, "cannot stand in a program; is a } missing above?");
  }
  if (!found) {
    cursor.fail("opcode", opcode,
                fmt::format("unknown; the nearest is {}",
                            base::nearest_name(opcode, all_opcodes(), &OpcodeInfo::name)));
  }
  constexpr std::size_t kMostInstructions = std::size_t{1} << 30;
  if (result_.program.code.size() == kMostInstructions) {
    cursor.fail("program", result_.program.name, fmt::format("at most {} instructions", kMostInstructions));
  }
  Instruction instruction;
  instruction.opcode = *found;
  read_registers(cursor, instruction);
  read_memory(cursor, instruction);
  if (cursor.peek() == '{') {
    instruction.has_control = true;
    instruction.control = read_control_bits(cursor);
  }
  if (cursor.accept('!')) {
    read_operation(cursor, instruction);
  }
  cursor.expect_end("the instruction");
  result_.program.code.push_back(instruction);
  result_.lines.push_back(static_cast<std::uint32_t>(cursor.line()));
}

void TextProgramReader::read_operation(TextCursor& cursor, Instruction& instruction) {
  std::vector<std::string>& operations = result_.program.operations;
  std::string name = cursor.name("operation");
  const auto place = std::ranges::find(operations, name);
  const auto number = static_cast<std::size_t>(place - operations.begin()) + 1;
  constexpr std::size_t kMost = std::numeric_limits<decltype(instruction.operation)>::max();
  if (number > kMost) {
    cursor.fail("operation", printable(name), fmt::format("a program has at most {} of them", kMost));
  }
  if (place == operations.end()) {
    operations.push_back(std::move(name));
  }
  instruction.operation = static_cast<std::uint8_t>(number);
}

void TextProgramReader::read_registers(TextCursor& cursor, Instruction& instruction) {
  const char next = cursor.peek();
  if (next == '\0' || next == '@' || next == '[' || next == '{' || next == '!') {
    return;
  }
  std::size_t count = 0;
  bool has_immediate = false;
  do {
    if (cursor.peek() >= '0' && cursor.peek() <= '9') {
      const auto value = cursor.integer<std::uint16_t>("immediate");
      if (has_immediate) {
        cursor.fail("immediate", std::to_string(value), "an instruction has at most one");
      }
      has_immediate = true;
      instruction.immediate = value;
      const bool is_barrier = instruction.opcode == Opcode::BAR_SYNC;
      if (is_barrier && value >= kBarrierNames) {
        cursor.fail("barrier", std::to_string(value), "0 to 15, and /N for N warps of the CTA");
      }
      if (is_barrier && cursor.accept_adjacent('/')) {
        const int warps = cursor.integer<std::uint8_t>("warps", 1, 32);
        instruction.immediate = static_cast<std::uint16_t>(value + kBarrierNames * warps);
      }
      continue;
    }
    if (count == instruction.sources.size() + 1) {
      cursor.fail("operand", cursor.lookahead(), "an instruction has one destination and at most 4 sources");
    }
    (count == 0 ? instruction.destination : instruction.sources[count - 1]) = read_register_range(cursor);
    ++count;
  } while (cursor.accept(','));
}

void TextProgramReader::read_memory(TextCursor& cursor, Instruction& instruction) {
  std::vector<MemoryOperand>& operands = result_.program.memory_operands;
  if (cursor.accept('@')) {
    const auto number = cursor.integer<std::uint32_t>("memory operand number");
    if (!cursor.accept('=')) {
      if (number >= operands.size()) {
        cursor.fail("memory operand", "@" + std::to_string(number),
                    fmt::format("{} are defined up to here; @{}=[...] defines the next", operands.size(),
                                operands.size()));
      }
      instruction.memory = number;
      return;
    }
    if (number != operands.size()) {
      cursor.fail("memory operand", "@" + std::to_string(number),
                  fmt::format("operands are numbered in order, this one is @{}", operands.size()));
    }
  } else if (cursor.peek() != '[') {
    return;
  }
  instruction.memory = static_cast<std::uint32_t>(operands.size());
  operands.push_back(read_memory_operand(cursor, tensor_index_));
}

}  // namespace warpscope::trace
