#include "model/trace/text_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <unordered_map>

#include "model/trace/tensor_kind.hpp"
#include "model/trace/text_class_reader.hpp"
#include "model/trace/text_lines.hpp"
#include "model/trace/text_program_reader.hpp"

namespace warpscope::trace {
namespace {

constexpr std::size_t kMostTensors = kSharedMemory;
constexpr std::size_t kMostPrograms = 65536;

/// Where the parts of a launch stand, for errors that validate() finds.
struct LaunchLines {
  std::size_t line = 0;
  std::vector<std::vector<std::uint32_t>> programs;
};

class TextReader {
 public:
  TextReader(std::istream& input, const std::string& file) : lines_(input, file) {}

  Trace read() {
    read_header();
    while (lines_.next()) {
      TextCursor cursor = lines_.cursor();
      const std::string_view word = cursor.word();
      if (word == "tensor") {
        read_tensor(cursor);
      } else if (word == "launch") {
        read_launch(cursor);
      } else if (word == "end") {
        return finish(cursor);
      } else {
        cursor.fail("statement", word.empty() ? cursor.lookahead() : word, "expected tensor, launch or end");
      }
    }
    fail_truncated("trace", "expected the line `end`");
  }

 private:
  [[noreturn]] void fail_truncated(std::string_view where, std::string_view legal) {
    lines_.cursor().fail("end of file in", where, legal);
  }

  void read_header() {
    constexpr std::string_view kLegal = "expected `warpscope_trace 1` before anything else";
    if (!lines_.next()) {
      fail_truncated("header", kLegal);
    }
    TextCursor cursor = lines_.cursor();
    const std::string_view word = cursor.word();
    if (word != "warpscope_trace") {
      cursor.fail("header", word.empty() ? cursor.lookahead() : word, kLegal);
    }
    cursor.integer<int>("format version", 1, 1);
    cursor.expect_end("the format version");
  }

  Trace finish(TextCursor& cursor) {
    cursor.expect_end("end");
    if (lines_.next()) {
      TextCursor rest = lines_.cursor();
      rest.fail("after end", rest.lookahead(), "expected the end of the file");
    }
    try {
      validate(trace_);
    } catch (const ValidationError& error) {
      throw TraceError(lines_.file(), line_of(error.position()), error.what());
    }
    return std::move(trace_);
  }

  std::size_t line_of(const TracePosition& position) const {
    if (position.launch >= launch_lines_.size()) {
      return lines_.number();
    }
    const LaunchLines& launch = launch_lines_[position.launch];
    if (position.program >= launch.programs.size()) {
      return launch.line;
    }
    const std::vector<std::uint32_t>& program = launch.programs[position.program];
    return position.instruction < program.size() ? program[position.instruction] : launch.line;
  }

  void read_tensor(TextCursor& cursor) {
    constexpr std::string_view kAbsentBytes = "absent_bytes";
    constexpr std::string_view kInterleaved = "interleaved_segments";
    constexpr std::string_view kRowBytes = "row_bytes";
    Tensor tensor;
    tensor.name = cursor.name("tensor name");
    const std::string_view kind = cursor.word();
    const auto* const found = std::ranges::find(kTensorKindNames, kind);
    if (found == kTensorKindNames.end()) {
      cursor.fail("tensor kind", kind.empty() ? cursor.lookahead() : kind,
                  "expected input, output, scratch or local");
    }
    tensor.kind = static_cast<TensorKind>(found - kTensorKindNames.begin());
    tensor.segments = read_key(cursor, "segments");
    tensor.segment_bytes = read_key(cursor, "segment_bytes");
    if (cursor.lookahead() == kInterleaved) {
      tensor.interleaved_segments = read_key(cursor, kInterleaved);
    }
    if (!cursor.at_end() && cursor.lookahead() != kAbsentBytes) {
      tensor.line_segments = read_key(cursor, "line_segments");
      if (cursor.lookahead() == kRowBytes) {
        tensor.row_bytes = read_key(cursor, kRowBytes);
      }
    }
    if (cursor.lookahead() == kAbsentBytes) {
      tensor.absent_bytes = read_key(cursor, kAbsentBytes);
    }
    cursor.expect_end("the tensor");
    if (trace_.tensors.size() == kMostTensors) {
      cursor.fail("tensor", tensor.name, fmt::format("a trace has at most {}", kMostTensors));
    }
    if (!tensors_.emplace(tensor.name, static_cast<std::uint16_t>(trace_.tensors.size())).second) {
      cursor.fail("tensor", tensor.name, "this name is taken; names of tensors are unique");
    }
    trace_.tensors.push_back(std::move(tensor));
  }

  static std::int64_t read_key(TextCursor& cursor, std::string_view key) {
    const std::string_view word = cursor.word();
    if (word != key || !cursor.accept('=')) {
      cursor.fail("tensor", word.empty() ? cursor.lookahead() : word,
                  "expected tensor NAME KIND segments=N segment_bytes=N [interleaved_segments=N] "
                  "[line_segments=N [row_bytes=N]] [absent_bytes=N]");
    }
    return cursor.integer<std::int64_t>(key, 1);
  }

  void read_launch(TextCursor& header) {
    Launch launch;
    launch.name = header.name("launch name");
    header.expect('{', "after the launch's name");
    header.expect_end("{");
    const std::size_t opened = header.line();
    launch_lines_.push_back({opened, {}});
    programs_.clear();
    while (lines_.next()) {
      TextCursor cursor = lines_.cursor();
      if (cursor.accept('}')) {
        cursor.expect_end("}");
        trace_.launches.push_back(std::move(launch));
        return;
      }
      read_launch_line(cursor, launch);
    }
    fail_truncated(fmt::format("launch {}", printable(launch.name)),
                   fmt::format("expected the closing }} of the launch opened on line {}", opened));
  }

  void read_launch_line(TextCursor& cursor, Launch& launch) {
    const std::string_view word = cursor.word();
    if (word == "grid") {
      for (std::uint32_t& extent : launch.grid) {
        extent = cursor.integer<std::uint32_t>("grid extent", 1);
      }
    } else if (word == "threads") {
      launch.threads_per_cta = cursor.integer<std::uint32_t>("threads", 1, 1024);
    } else if (word == "registers") {
      launch.registers_per_thread = cursor.integer<std::uint32_t>("registers");
    } else if (word == "shared") {
      launch.shared_bytes_per_cta = cursor.integer<std::uint32_t>("shared");
    } else if (word == "mbarriers") {
      read_mbarriers(cursor, launch);
    } else if (word == "class_x" || word == "class_y" || word == "class_z") {
      classes_.read_table(cursor, launch.class_of_block[static_cast<std::size_t>(word.back() - 'x')]);
    } else if (word == "class") {
      launch.classes.push_back(classes_.read_class(cursor, programs_));
    } else if (word == "program") {
      read_program(cursor, launch);
      return;  // its block ends on another line
    } else {
      cursor.fail("statement", word.empty() ? cursor.lookahead() : word,
                  "expected grid, threads, registers, shared, mbarriers, class, class_x, class_y, class_z, "
                  "program or }");
    }
    cursor.expect_end(word);
  }

  static void read_mbarriers(TextCursor& cursor, Launch& launch) {
    const auto read_key = [&]<typename T>(std::string_view key, T& value) {
      const std::string_view word = cursor.word();
      if (word != key || !cursor.accept('=')) {
        cursor.fail("mbarriers", word.empty() ? cursor.lookahead() : word,
                    "expected mbarriers slots=N arrivals=N bytes=N [open]");
      }
      value = cursor.integer<T>(key);
    };
    MbarrierRing ring;
    read_key("slots", ring.slots);
    read_key("arrivals", ring.arrivals);
    read_key("bytes", ring.bytes);
    if (!cursor.at_end()) {
      const std::string_view word = cursor.word();
      if (word != "open") {
        cursor.fail("mbarriers", word.empty() ? cursor.lookahead() : word, "expected open, or nothing");
      }
      ring.starts_open = true;
    }
    launch.mbarriers.push_back(ring);
  }

  void read_program(TextCursor& cursor, Launch& launch) {
    TextProgramReader reader(lines_, [this](TextCursor& at, const std::string& name) {
      const auto found = tensors_.find(name);
      if (found == tensors_.end()) {
        at.fail("tensor", name,
                "unknown; declare it above with `tensor NAME KIND segments=N segment_bytes=N`");
      }
      return found->second;
    });
    LocatedProgram located = reader.read(cursor);
    const std::string& name = located.program.name;
    if (launch.programs.size() == kMostPrograms) {
      cursor.fail("program", name, fmt::format("a launch has at most {}", kMostPrograms));
    }
    if (!programs_.emplace(name, static_cast<std::uint16_t>(launch.programs.size())).second) {
      cursor.fail("program", name, "this name is taken; names of programs are unique in a launch");
    }
    launch.programs.push_back(std::move(located.program));
    launch_lines_.back().programs.push_back(std::move(located.lines));
  }

  TextLines lines_;
  Trace trace_;
  NameTable tensors_;
  NameTable programs_;  // of the launch being read
  std::vector<LaunchLines> launch_lines_;
  TextClassReader classes_;
};

}  // namespace

Trace read_text(std::istream& input, const std::string& file) {
  return TextReader(input, file).read();
}

Trace read_text_file(const std::filesystem::path& path) {
  std::ifstream input(path, std::ios::binary);
  if (!input || !std::filesystem::is_regular_file(path)) {
    throw TraceError(path.string(), 0, "cannot be opened: expected a readable trace file");
  }
  return read_text(input, path.string());
}

}  // namespace warpscope::trace
