// Reads the block of one warp program.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/trace/program.hpp"
#include "model/trace/text_lines.hpp"
#include "model/trace/text_operand.hpp"

namespace warpscope::trace {

/// A program and the line of the file that holds each of its instructions.
struct LocatedProgram {
  WarpProgram program;
  std::vector<std::uint32_t> lines;
};

/// Reads instructions and loops up to the `}` that closes the program.
class TextProgramReader {
 public:
  TextProgramReader(TextLines& lines, TensorLookup tensor_index)
      : lines_(lines), tensor_index_(std::move(tensor_index)) {}

  /// The cursor stands behind the word `program`.
  LocatedProgram read(TextCursor& header);

 private:
  struct OpenLoop {
    std::size_t index;
    std::size_t line;
  };

  void read_loop(TextCursor& cursor);
  void close_loop(TextCursor& cursor);
  void read_instruction(TextCursor& cursor, std::string_view opcode);
  void read_operation(TextCursor& cursor, Instruction& instruction);
  void read_registers(TextCursor& cursor, Instruction& instruction);
  void read_memory(TextCursor& cursor, Instruction& instruction);
  [[noreturn]] void fail_truncated(std::size_t opened, const std::string& name) const;

  TextLines& lines_;
  TensorLookup tensor_index_;
  LocatedProgram result_;
  std::vector<OpenLoop> open_loops_;
};

}  // namespace warpscope::trace
