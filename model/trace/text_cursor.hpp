// A position in one line of a trace file: takes tokens off the front and reports what it finds instead.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>

namespace warpscope::trace {

/// `text` cut to a printable length with control characters made visible, for error messages.
std::string printable(std::string_view text);
/// `name` as a trace file holds it: bare where it is a plain word, else in double quotes with escapes.
std::string quoted_if_needed(std::string_view name);

/// Reads one line. Spaces separate tokens and are skipped before each; `#` ends the line.
class TextCursor {
 public:
  TextCursor(const std::string& file, std::size_t line, std::string_view text)
      : file_(file), line_(line), text_(text) {}

  std::size_t line() const { return line_; }
  /// True when only a comment or nothing is left.
  bool at_end();
  /// The next character after spaces, or '\0' at the end; not taken.
  char peek();
  /// Takes `symbol` if it is next.
  bool accept(char symbol);
  /// Takes `symbol` only if it follows without a space, as in the range `R8:4`.
  bool accept_adjacent(char symbol);
  void expect(char symbol, std::string_view where);
  void expect_end(std::string_view after);
  /// Takes a bare word: letters, digits, `_` and `.`; empty if something else is next.
  std::string_view word();
  /// Takes a bare word or a quoted string.
  std::string name(std::string_view what);
  /// A cursor over part of this line, for a number inside a word.
  TextCursor nested(std::string_view part) const { return {file_, line_, part}; }
  /// The next token up to a space or delimiter, for messages; not taken.
  std::string_view lookahead();

  /// Takes a decimal integer within [least, most].
  template <std::integral T>
  T integer(std::string_view what, T least = std::numeric_limits<T>::min(),
            T most = std::numeric_limits<T>::max()) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>(wide_integer<Wide>(what, least, most));
  }

  /// Throws TraceError: `file:line: what 'value': legal`.
  [[noreturn]] void fail(std::string_view what, std::string_view value, std::string_view legal) const;

 private:
  template <typename Wide>  // int64_t or uint64_t
  Wide wide_integer(std::string_view what, Wide least, Wide most);
  void skip_spaces();
  std::string quoted(std::string_view what);

  const std::string& file_;
  std::size_t line_;
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace warpscope::trace
