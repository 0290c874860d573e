// Why a trace was refused, and where.
#pragma once

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>

namespace warpscope::trace {

/// A place in a Trace by index; `kNowhere` where the finer part does not apply.
struct TracePosition {
  static constexpr std::size_t kNowhere = std::numeric_limits<std::size_t>::max();
  std::size_t launch = kNowhere;
  std::size_t program = kNowhere;
  std::size_t instruction = kNowhere;
};

/// A trace that breaks a rule. what() names launch, program, instruction, value and what is legal.
class ValidationError : public std::invalid_argument {
 public:
  ValidationError(const std::string& message, TracePosition position)
      : std::invalid_argument(message), position_(position) {}
  const TracePosition& position() const { return position_; }

 private:
  TracePosition position_;
};

/// A trace file that cannot be read. what() is one line: `file:line: what 'value': what is legal`.
class TraceError : public std::invalid_argument {
 public:
  TraceError(const std::string& file, std::size_t line, const std::string& message)
      : std::invalid_argument(file + ":" + std::to_string(line) + ": " + message), line_(line) {}
  /// 1-based line of the file.
  std::size_t line() const { return line_; }

 private:
  std::size_t line_;
};

}  // namespace warpscope::trace
