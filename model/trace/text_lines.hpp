// The lines of a trace file that hold something.
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

}  // namespace warpscope::trace
