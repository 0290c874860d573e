// The lines of a trace file that hold something, and lists of numbers as runs.
#pragma once

#include <cstddef>
#include <istream>
#include <string>

#include "model/trace/text_cursor.hpp"
#include "model/trace/trace_error.hpp"

namespace warpscope::trace {

/// Hands out lines one at a time, so that a file larger than memory fails late and cleanly.
class TextLines {
 public:
  TextLines(std::istream& input, std::string file) : input_(input), file_(std::move(file)) {}

  /// Moves to the next line that is not blank or a comment; false at the end of the file.
  bool next();
  /// The line that next() found.
  TextCursor cursor() const { return {file_, number_, line_}; }
  std::size_t number() const { return number_; }
  const std::string& file() const { return file_; }

 private:
  bool fetch();

  std::istream& input_;
  std::string file_;
  std::string line_;
  std::size_t number_ = 0;
};

/// Numbers that a file may spell as runs (`0*1000`): a limit for all of it keeps a short file from filling
/// memory.
class RunBudget {
 public:
  /// Takes `count` numbers; fails at the cursor when the file asks for more than kMost in all.
  void take(TextCursor& cursor, std::uint64_t count) {
    if (count > left_) {
      cursor.fail("list", std::to_string(count) + " values", "a file may spell at most 67108864 in all");
    }
    left_ -= count;
  }

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 26;
  std::uint64_t left_ = kMost;
};

}  // namespace warpscope::trace
