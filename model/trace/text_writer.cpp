#include "model/trace/text_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <sstream>

#include "model/trace/tensor_kind.hpp"
#include "model/trace/text_cursor.hpp"
#include "model/trace/text_operand.hpp"

namespace warpscope::trace {
namespace {

constexpr std::size_t kWrap = 100;  // columns after which a class table continues on the next line

/// Writes one program; loops open and close as the instructions pass.
class ProgramWriter {
 public:
  ProgramWriter(const WarpProgram& program, const std::vector<Tensor>& tensors, std::string& text)
      : program_(program), tensors_(tensors), text_(text), uses_(program.memory_operands.size()) {
    for (const Instruction& instruction : program.code) {
      if (instruction.memory != kNoMemory) {
        ++uses_[instruction.memory];
      }
    }
  }

  void write() {
    fmt::format_to(std::back_inserter(text_), "  program {} {{\n", quoted_if_needed(program_.name));
    for (std::uint32_t i = 0; i < program_.code.size(); ++i) {
      while (next_loop_ < program_.loops.size() && program_.loops[next_loop_].begin == i) {
        open_loop(program_.loops[next_loop_++]);
      }
      write_instruction(program_.code[i]);
      while (!open_.empty() && open_.back() == i + 1) {
        open_.pop_back();
        indent();
        text_ += "}\n";
      }
    }
    define_operands_before(program_.memory_operands.size());
    text_ += "  }\n";
  }

 private:
  void indent() { text_.append(4 + 2 * open_.size(), ' '); }

  void open_loop(const Loop& loop) {
    indent();
    fmt::format_to(std::back_inserter(text_), "loop n=slot{}", loop.trip_slot);
    for (std::size_t k = 0; k < loop.trips_per_iteration.size(); ++k) {
      const std::int64_t factor = loop.trips_per_iteration[k];
      if (factor != 0) {
        fmt::format_to(std::back_inserter(text_), "{}i{}", factor < 0 ? '-' : '+', k);
        if (factor != 1 && factor != -1) {
          fmt::format_to(std::back_inserter(text_), "*{}", factor < 0 ? -factor : factor);
        }
      }
    }
    text_ += loop.again ? " again {\n" : " {\n";
    open_.push_back(loop.end);
  }

  void write_instruction(const Instruction& instruction) {
    if (instruction.memory != kNoMemory) {
      define_operands_before(instruction.memory);
    }
    indent();
    text_ += info(instruction.opcode).name;
    write_registers(instruction);
    if (instruction.memory != kNoMemory) {
      write_memory(instruction.memory);
    }
    if (instruction.has_control) {
      text_ += ' ';
      append(text_, instruction.control);
    }
    if (instruction.operation > 0) {
      text_ += " ! " + quoted_if_needed(program_.operations[instruction.operation - std::size_t{1}]);
    }
    text_ += '\n';
  }

  void write_registers(const Instruction& instruction) {
    std::string_view separator = " ";
    const OpClass op_class = info(instruction.opcode).op_class;
    if (op_class == OpClass::barrier && instruction.immediate >= kBarrierNames) {
      fmt::format_to(std::back_inserter(text_), " {}/{}", instruction.immediate % kBarrierNames,
                     instruction.immediate / kBarrierNames);
      separator = ", ";
    } else if (has_immediate(op_class) && (op_class != OpClass::branch || instruction.immediate > 0)) {
      fmt::format_to(std::back_inserter(text_), " {}", instruction.immediate);
      separator = ", ";
    }
    std::size_t used = instruction.sources.size();
    while (used > 0 && instruction.sources[used - 1] == RegisterRange{}) {
      --used;
    }
    if (used == 0 && instruction.destination == RegisterRange{}) {
      return;
    }
    text_ += separator;
    append(text_, instruction.destination);
    for (std::size_t i = 0; i < used; ++i) {
      text_ += ", ";
      append(text_, instruction.sources[i]);
    }
  }

  /// An operand is spelt out at its first use; a number lets later instructions share it.
  void write_memory(std::uint32_t number) {
    if (number < next_operand_) {
      fmt::format_to(std::back_inserter(text_), " @{}", number);
      return;
    }
    text_ += ' ';
    if (uses_[number] > 1) {
      fmt::format_to(std::back_inserter(text_), "@{}=", number);
    }
    write_operand(program_.memory_operands[next_operand_++]);
  }

  /// Operands that come before their first use in the table, or are never used, get lines of their own.
  void define_operands_before(std::size_t number) {
    while (next_operand_ < number) {
      indent();
      text_ += "operand ";
      write_operand(program_.memory_operands[next_operand_++]);
      text_ += '\n';
    }
  }

  void write_operand(const MemoryOperand& operand) {
    append(text_, operand, operand.tensor == kSharedMemory ? std::string() : tensors_[operand.tensor].name);
  }

  const WarpProgram& program_;
  const std::vector<Tensor>& tensors_;
  std::string& text_;
  std::vector<std::uint32_t> uses_;
  std::size_t next_operand_ = 0;
  std::size_t next_loop_ = 0;
  std::vector<std::uint32_t> open_;  // ends of the loops around the current instruction
};

/// How many values from `begin` repeat the first, or count up or down by one from it.
std::size_t run_length(std::span<const std::uint32_t> values, std::uint32_t step) {
  std::size_t length = 1;
  while (length < values.size() && values[length] == values[length - 1] + step) {
    ++length;
  }
  return length;
}

void append_class_table(std::string& text, char dimension, std::span<const std::uint32_t> table) {
  std::string line;
  while (!table.empty()) {
    constexpr std::uint32_t kDown = ~std::uint32_t{0};
    const std::size_t same = run_length(table, 0);
    // A ramp must not wrap around: 0 follows 4294967295 only in modular arithmetic, which valid tables never
    // hold.
    const std::size_t ramp = std::max(run_length(table, 1), run_length(table, kDown));
    std::size_t taken = 1;
    if (same > 1) {
      taken = same;
      fmt::format_to(std::back_inserter(line), " {}*{}", table.front(), same);
    } else if (ramp > 2) {
      taken = ramp;
      fmt::format_to(std::back_inserter(line), " {}..{}", table.front(), table[ramp - 1]);
    } else {
      fmt::format_to(std::back_inserter(line), " {}", table.front());
    }
    table = table.subspan(taken);
    if (line.size() >= kWrap || table.empty()) {
      fmt::format_to(std::back_inserter(text), "  class_{}{}\n", dimension, line);
      line.clear();
    }
  }
}

/// Appends `key=a*2,b`; `spell` turns a value into text.
template <typename T, typename Spell>
void append_list(std::string& text, std::string_view key, const std::vector<T>& values, Spell spell) {
  for (std::size_t i = 0; i < values.size();) {
    const auto run_end = std::find_if(values.begin() + static_cast<std::ptrdiff_t>(i), values.end(),
                                      [&](const T& value) { return value != values[i]; });
    const auto count = static_cast<std::size_t>(run_end - values.begin()) - i;
    if (i == 0) {
      fmt::format_to(std::back_inserter(text), " {}=", key);
    } else {
      text += ',';
    }
    text += spell(values[i]);
    if (count > 1) {
      fmt::format_to(std::back_inserter(text), "*{}", count);
    }
    i += count;
  }
}

void append_launch(std::string& text, const Launch& launch, const std::vector<Tensor>& tensors) {
  fmt::format_to(std::back_inserter(text), "\nlaunch {} {{\n", quoted_if_needed(launch.name));
  fmt::format_to(std::back_inserter(text), "  grid {} {} {}\n  threads {}\n  registers {}\n  shared {}\n",
                 launch.grid[0], launch.grid[1], launch.grid[2], launch.threads_per_cta,
                 launch.registers_per_thread, launch.shared_bytes_per_cta);
  for (const MbarrierRing& ring : launch.mbarriers) {
    fmt::format_to(std::back_inserter(text), "  mbarriers slots={} arrivals={} bytes={}{}\n", ring.slots,
                   ring.arrivals, ring.bytes, ring.starts_open ? " open" : "");
  }
  for (const WarpProgram& program : launch.programs) {
    ProgramWriter(program, tensors, text).write();
  }
  const auto spell_number = [](auto value) { return std::to_string(value); };
  for (const CtaClass& cta_class : launch.classes) {
    text += "  class";
    append_list(text, "programs", cta_class.program_of_warp,
                [&](std::uint16_t program) { return quoted_if_needed(launch.programs[program].name); });
    append_list(text, "trips", cta_class.trip_counts, spell_number);
    append_list(text, "symbols", cta_class.symbols, spell_number);
    text += '\n';
  }
  for (std::size_t d = 0; d < 3; ++d) {
    append_class_table(text, static_cast<char>('x' + d), launch.class_of_block[d]);
  }
  text += "}\n";
}

}  // namespace

void write_text(std::ostream& output, const Trace& trace) {
  validate(trace);
  std::string text = "warpscope_trace 1\n\n";
  for (const Tensor& tensor : trace.tensors) {
    fmt::format_to(std::back_inserter(text), "tensor {} {} segments={} segment_bytes={}\n",
                   quoted_if_needed(tensor.name), kTensorKindNames[static_cast<std::size_t>(tensor.kind)],
                   tensor.segments, tensor.segment_bytes);
    if (tensor.interleaved_segments != 1) {
      text.back() = ' ';
      fmt::format_to(std::back_inserter(text), "interleaved_segments={}\n", tensor.interleaved_segments);
    }
    if (tensor.line_segments != 1) {
      text.back() = ' ';
      fmt::format_to(std::back_inserter(text), "line_segments={}\n", tensor.line_segments);
    }
    if (tensor.row_bytes != 0) {
      text.back() = ' ';
      fmt::format_to(std::back_inserter(text), "row_bytes={}\n", tensor.row_bytes);
    }
    if (tensor.absent_bytes != 0) {
      text.back() = ' ';
      fmt::format_to(std::back_inserter(text), "absent_bytes={}\n", tensor.absent_bytes);
    }
  }
  for (const Launch& launch : trace.launches) {
    append_launch(text, launch, trace.tensors);
    output << text;
    text.clear();
  }
  output << text << "\nend\n";
}

std::string to_text(const Trace& trace) {
  std::ostringstream output;
  write_text(output, trace);
  return std::move(output).str();
}

}  // namespace warpscope::trace
